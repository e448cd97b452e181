// node build.mjs [OUTPUT]: bundles the page into one file, dist/viewer.html, which needs nothing else. sunder serves it, and
// exports fill its data element.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const output = process.argv[2] ?? "dist/viewer.html";

const result = await build({
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  write: false,
  legalComments: "inline",
});
const script = result.outputFiles[0].text.replaceAll("</script", "<\\/script");
const style = readFileSync("src/page.css", "utf8");
const page = readFileSync("src/page.html", "utf8")
  .replace("/*STYLE*/", () => style)
  .replace("/*SCRIPT*/", () => script);
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, page);
console.log(`${output}: ${(page.length / 1024).toFixed(0)} KB`);
