// node speed.mjs RUN [SECONDS]: how long the page takes to show a run and how many frames a second it draws while it
// plays, in headless Chromium with software rendering at 1280 x 720. Prints one JSON object.
import { launch, serve } from "./browser.mjs";

const [run, seconds = "10"] = process.argv.slice(2);
if (!run) throw new Error("node speed.mjs RUN [SECONDS]");
const browser = await launch(), server = await serve(run);
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
const start = performance.now();
await page.goto(server.url);
await page.waitForFunction(() => window.sunder?.ready, null, { timeout: 120000, polling: 20 });
const shown = performance.now();
await page.waitForFunction(() => window.sunder.arrived >= window.sunder.frames, null, { timeout: 120000, polling: 20 });
const loaded = performance.now();
await page.waitForTimeout(2000); // until the quality has settled
const counted = await page.evaluate(
  (duration) =>
    new Promise((resolve) => {
      const from = performance.now(), first = window.sunder.drawn;
      setTimeout(() => resolve({ drawn: window.sunder.drawn - first, time: performance.now() - from }), duration);
    }),
  Number(seconds) * 1000,
);
const state = await page.evaluate(() => ({ ...window.sunder }));
console.log(JSON.stringify({
  frames: state.frames, bodies: state.bodiesShown, triangles: state.triangles, quality: state.quality,
  first_picture_s: (shown - start) / 1000, loaded_s: (loaded - start) / 1000, frames_per_second: (counted.drawn * 1000) / counted.time,
}, null, 2));
await browser.close();
server.stop();
