// node usd_read.mjs FOLDER_OF_NODE_MODULES FILE.usda: reads a USD file with tinyusdz, composes its references and
// prints what a renderer would get, as JSON.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const folder = process.argv[2] + "/node_modules/tinyusdz/";
// The module is made for browsers and looks for one; what it fetches is on the disk.
globalThis.window = globalThis;
globalThis.document = {currentScript: null};
globalThis.location = pathToFileURL(folder + "tinyusdz.js");
process.type = "renderer";
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
// Prototypes are of a class, which is not drawn; tinyusdz lists them all the same.
let meshes = 0, triangles = 0;
const materials = new Set();
for (let i = 0; i < usd.numMeshes(); ++i) {
  const mesh = usd.getMesh(i);
  if (!mesh.absPath.startsWith("/World/Bodies/")) continue;
  meshes += 1;
  triangles += mesh.faceVertexIndices.length / 3;
  materials.add(mesh.materialId);
}
console.log(JSON.stringify({meshes, materials: materials.size, unbound: materials.has(-1), triangles}));
