// node glb_validate.mjs FOLDER_OF_NODE_MODULES FILE.glb...: what Khronos' validator says of each, as JSON.
import {createRequire} from "node:module";
import {readFileSync} from "node:fs";

const require = createRequire(process.argv[2] + "/");
const validator = require("gltf-validator");
const found = [];
for (const file of process.argv.slice(3)) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(file)), {maxIssues: 20});
  const {numErrors, numWarnings, numInfos, numHints, messages} = report.issues;
  const {animationCount, materialCount, drawCallCount, totalTriangleCount} = report.info;
  found.push({file, version: validator.version(), numErrors, numWarnings, numInfos, numHints,
              messages: messages.map((m) => `${m.code} ${m.pointer}`),
              animationCount, materialCount, drawCallCount, totalTriangleCount});
}
console.log(JSON.stringify(found));
