// node usd_read.mjs FOLDER_OF_NODE_MODULES FILE.usda: reads a USD file with tinyusdz, composes its references and
// prints what a renderer would get, as JSON.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const folder = process.argv[2] + "/node_modules/tinyusdz/";
// The module is made for browsers: what it fetches is on the disk.
globalThis.fetch = async (url) => new Response(readFileSync(new URL(url)), {headers: {"Content-Type": "application/wasm"}});
const {default: start} = await import(pathToFileURL(folder + "tinyusdz.js").href);
const native = await start({wasmBinary: readFileSync(folder + "tinyusdz.wasm"), locateFile: (name) => folder + name,
                            print: () => {}, printErr: (text) => console.error(text)});
const usd = new native.TinyUSDZLoaderNative();
const bytes = new Uint8Array(readFileSync(process.argv[3]));
const fail = (what) => {
  console.log(JSON.stringify({failed: what, error: usd.error ? usd.error() : ""}));
  process.exit(1);
};
if (!usd.loadAsLayerFromBinary(bytes, "scene.usda")) fail("read");
if (usd.hasReferences() && !usd.composeReferences()) fail("references");
if (!usd.layerToRenderScene()) fail("scene");
let triangles = 0, points = 0;
for (let i = 0; i < usd.numMeshes(); ++i) {
  const mesh = usd.getMesh(i);
  triangles += mesh.faceVertexIndices.length / 3;
  points += mesh.points.length / 3;
}
console.log(JSON.stringify({meshes: usd.numMeshes(), materials: usd.numMaterials(), triangles, points}));
