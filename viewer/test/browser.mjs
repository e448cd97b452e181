// What tests and measurements of the page share: Debian's chromium with software rendering, and `sunder view`.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const chromiumPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
export const sunder = join(process.env.SUNDER_BIN ?? "build/bin", "sunder");

export function launch() {
  return chromium.launch({
    executablePath: chromiumPath,
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });
}

const servers = new Set();

// Ends every server that is left, so that a test that failed does not keep the program.
export function stopAll() {
  for (const server of servers) server.kill();
}

// Starts the server on a free port. stop() ends it.
export function serve(run) {
  return new Promise((resolve, reject) => {
    const child = spawn(sunder, ["view", run, "--port", "0", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
    servers.add(child);
    const ended = (code) => reject(new Error(`sunder view ended with ${code}`));
    let text = "";
    child.on("exit", ended);
    child.stdout.on("data", (part) => {
      text += part;
      let url;
      try {
        url = JSON.parse(text).url;
      } catch {
        return; // not all of it is here yet
      }
      resolve({ url, stop: () => (child.off("exit", ended), child.kill()) });
    });
  });
}
