// The page in a real browser: a finished run, one that is still being written, and a page that stands alone. Needs
// SUNDER_BIN (the folder of the command) and Debian's chromium; exits with 77 where there is none.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromiumPath, launch, serve, stopAll, sunder } from "./browser.mjs";

const folder = mkdtempSync(join(tmpdir(), "sunder-page-"));
const scenePath = join(folder, "blocks.json");

// Nine blocks that fall on the ground, and a ball of glass.
const scene = {
  world: { duration: 1.5 },
  bodies: [
    { id: "ground", shape: { plane: {} }, kind: "static", material: "concrete" },
    { id: "ball", shape: { sphere: { radius: 0.12 } }, material: "glass", position: [0, 1.2, 0] },
  ],
  arrays: [{
    id: "block",
    body: { shape: { box: { size: [0.2, 0.2, 0.2] } }, material: "oak" },
    grid: { count: [3, 1, 3], spacing: [0.3, 0.3, 0.3] },
    position: [0, 0.4, 0],
  }],
};

let browser, server;

function runSunder(...words) {
  const done = spawnSync(sunder, words, { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

// A page that must not reach beyond its own origin and must not complain.
async function open(address) {
  const context = await browser.newContext({ viewport: { width: 800, height: 500 }, acceptDownloads: true });
  const page = await context.newPage();
  const complaints = [], elsewhere = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("request", (request) => {
    const own = new URL(address).origin === "null" ? "file:" : new URL(address).origin;
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(own)) elsewhere.push(request.url());
  });
  await page.goto(address);
  await page.waitForFunction(() => window.sunder?.ready, null, { timeout: 30000 });
  return { page, complaints, elsewhere, close: () => context.close() };
}

const probe = (page) => page.evaluate(() => ({ ...window.sunder }));

// Somewhere near the middle there is a body: looks along rows until one is hit.
async function pickSomething(page) {
  for (let y = 180; y < 340; y += 20)
    for (let x = 300; x < 500; x += 20) {
      await page.mouse.click(x, y);
      await page.waitForTimeout(60);
      const { picked } = await probe(page);
      if (picked) return picked;
    }
  return "";
}

// Share of the canvas that differs from its most frequent colour.
async function variety(page) {
  return page.evaluate(() => {
    const canvas = document.getElementById("view");
    const copy = document.createElement("canvas");
    copy.width = 320;
    copy.height = 180;
    const pen = copy.getContext("2d");
    pen.drawImage(canvas, 0, 0, 320, 180);
    const data = pen.getImageData(0, 0, 320, 180).data, counts = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const key = (data[i] >> 3 << 10) | (data[i + 1] >> 3 << 5) | (data[i + 2] >> 3);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return { share: 1 - Math.max(...counts.values()) / (320 * 180), colours: counts.size };
  });
}

if (!chromiumPath) {
  console.log("no chromium: the page is not tested");
  process.exit(77);
}

before(async () => {
  writeFileSync(scenePath, JSON.stringify(scene));
  runSunder("run", scenePath, "-o", join(folder, "run"), "--quiet");
  browser = await launch();
  server = await serve(join(folder, "run"));
});

after(async () => {
  stopAll();
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a finished run loads, shows all bodies, and is no blank picture", async () => {
  const { page, complaints, elsewhere, close } = await open(server.url);
  const state = await probe(page);
  assert.equal(state.state, "finished");
  assert.equal(state.frames, 91);
  assert.equal(state.bodiesShown, 10); // the ground is drawn as a plane
  const seen = await variety(page);
  assert.ok(seen.share > 0.05, `only ${seen.share} of the picture differs from its background`);
  assert.ok(seen.colours > 50, `${seen.colours} colours`);
  assert.deepEqual(complaints, []);
  assert.deepEqual(elsewhere, []);
  await close();
});

test("play, pause, step and scrub", async () => {
  const { page, close } = await open(server.url);
  await page.waitForFunction(() => window.sunder.frame > 5); // it plays from the start
  await page.keyboard.press(" ");
  await page.waitForTimeout(300);
  const paused = (await probe(page)).frame;
  await page.waitForTimeout(300);
  assert.equal((await probe(page)).frame, paused);
  await page.keyboard.press("Home");
  await page.waitForFunction(() => window.sunder.frame === 0);
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => window.sunder.frame === 1);
  await page.keyboard.press("Shift+ArrowRight");
  await page.waitForFunction(() => window.sunder.frame === 11);
  await page.locator("#scrub").fill("60");
  await page.waitForFunction(() => window.sunder.frame === 60);
  assert.match(await page.locator("#clock").textContent(), /frame 60 of 91, 1\.000 s/);
  await page.keyboard.press("End");
  await page.waitForFunction(() => window.sunder.frame === 90);
  await close();
});

test("picking tells the body; Escape lets it go", async () => {
  const { page, close } = await open(server.url);
  await page.keyboard.press(" ");
  await page.keyboard.press("End");
  await page.waitForFunction(() => window.sunder.frame === 90);
  const name = await pickSomething(page);
  assert.match(name, /^(block\[|ball)/);
  const panel = await page.locator("#picked").textContent();
  for (const word of ["mass", "material", "parent", "speed"]) assert.ok(panel.includes(word), `${word} in ${panel}`);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => window.sunder.picked === "");
  await close();
});

test("trees and field of the picked body", async () => {
  const { page, complaints, close } = await open(server.url);
  await page.keyboard.press(" ");
  await page.keyboard.press("End");
  await page.waitForFunction(() => window.sunder.frame === 90);
  await pickSomething(page);
  await page.getByText("the picked body").click();
  const choice = page.locator(".lil-gui .lil-gui select").filter({ hasText: "tree boxes" });
  for (const [name, path] of [["tree boxes", "boxes"], ["sphere tree", "spheres"], ["field slice", "slice"]]) {
    await choice.selectOption(name);
    await page.waitForFunction((p) => window.sunder.overlay.startsWith(`api/${p}/`), path);
  }
  assert.deepEqual(complaints, []);
  await close();
});

test("colour by speed changes the picture and shows a scale", async () => {
  const { page, close } = await open(server.url);
  await page.keyboard.press(" ");
  await page.locator("#scrub").fill("10"); // falling
  await page.waitForFunction(() => window.sunder.frame === 10);
  assert.ok(await page.locator("#legend").isHidden());
  const before = await page.locator("#view").screenshot();
  await page.locator(".lil-gui select").first().selectOption("speed");
  await page.waitForFunction(() => !document.getElementById("legend").hidden);
  assert.match(await page.locator("#legend").textContent(), /speed, m\/s.*0 to/);
  await page.waitForTimeout(200);
  assert.notDeepEqual(await page.locator("#view").screenshot(), before);
  await close();
});

test("a picture can be saved", async () => {
  const { page, close } = await open(server.url);
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("p")]);
  assert.match(download.suggestedFilename(), /^blocks-\d{4}\.png$/);
  assert.ok(statSync(await download.path()).size > 4000);
  await close();
});

test("a run that is being written grows in the page", async () => {
  const live = join(folder, "live");
  const run = spawn(sunder, ["run", scenePath, "-o", live, "--quiet", "--set", "world.duration=300"], { stdio: "ignore" });
  try {
    const written = () => (existsSync(join(live, "run.sunder")) ? statSync(join(live, "run.sunder")).size : 0);
    for (let i = 0; i < 2000 && written() < 20000; ++i) await new Promise((r) => setTimeout(r, 2));
    run.kill("SIGSTOP"); // it waits until the page has seen the beginning
    const served = await serve(live);
    const { page, close } = await open(served.url);
    const first = await probe(page);
    assert.equal(first.state, "live");
    assert.ok(first.frames < 18001, `${first.frames} frames`);
    run.kill("SIGCONT");
    await page.waitForFunction(() => window.sunder.state === "finished" && window.sunder.frames === 18001, null, { timeout: 60000 });
    await close();
    served.stop();
  } finally {
    run.kill("SIGKILL");
  }
});

test("pieces that come into being while the page looks on", async () => {
  const path = join(folder, "breaking.json"), live = join(folder, "breaking");
  writeFileSync(path, JSON.stringify({
    world: { duration: 20, sleep: false },
    bodies: [
      { id: "ground", shape: { plane: {} }, kind: "static", material: "concrete" },
      { id: "block", shape: { box: { size: [0.3, 0.2, 0.3] } }, material: "plaster", position: [0, 12, 0],
        fracture: { model: "voronoi", pieces: 8, edge: 0.08 } },
    ],
  }));
  const run = spawn(sunder, ["run", path, "-o", live, "--quiet"], { stdio: "ignore" });
  try {
    const written = () => (existsSync(join(live, "run.sunder")) ? statSync(join(live, "run.sunder")).size : 0);
    for (let i = 0; i < 5000 && written() < 2000; ++i) await new Promise((r) => setTimeout(r, 1));
    run.kill("SIGSTOP"); // it falls for more than a second before it breaks
    const served = await serve(live);
    const { page, complaints, close } = await open(served.url);
    const first = await probe(page);
    assert.equal(first.state, "live");
    assert.equal(first.bodiesShown, 1);
    run.kill("SIGCONT");
    await page.waitForFunction(() => window.sunder.state === "finished" && window.sunder.bodiesShown > 4, null, { timeout: 60000 });
    await page.keyboard.press("Home");
    await page.waitForFunction(() => window.sunder.frame === 0 && window.sunder.bodiesShown === 1);
    assert.deepEqual(complaints, []);
    await close();
    served.stop();
  } finally {
    run.kill("SIGKILL");
  }
});

test("particles and a body that deforms", async () => {
  const path = join(folder, "particles"), made = spawnSync(join(dirname(sunder), "particle_run"), [path, "2000", "12"]);
  assert.equal(made.status, 0);
  const served = await serve(path);
  const { page, complaints, close } = await open(served.url);
  await page.keyboard.press(" ");
  const shot = async (frame) => {
    await page.locator("#scrub").fill(String(frame));
    await page.waitForFunction((f) => window.sunder.frame === f, frame);
    await page.waitForTimeout(300);
    return page.screenshot();
  };
  const first = await shot(0);
  assert.equal((await probe(page)).bodiesShown, 2);
  assert.ok(!first.equals(await shot(11)), "they move");
  await page.locator(".lil-gui select").first().selectOption("density");
  await page.waitForFunction(() => !document.getElementById("legend").hidden);
  assert.match(await page.locator("#legend-range").textContent(), /0 to 1000/);
  assert.deepEqual(complaints, []);
  await close();
  served.stop();
  const alone = join(folder, "particles.html");
  runSunder("export", path, "--to", "html", "-o", alone);
  const opened = await open(pathToFileURL(alone).href);
  assert.equal((await probe(opened.page)).bodiesShown, 2);
  assert.deepEqual(opened.complaints, []);
  await opened.close();
});

test("meshes that change are shown, coloured by their vertices, and picked where they are", async () => {
  const path = join(folder, "changing"), made = spawnSync(join(dirname(sunder), "changing_run"), [path]);
  assert.equal(made.status, 0);
  const served = await serve(path), alone = join(folder, "changing.html");
  runSunder("export", path, "--to", "html", "-o", alone);
  for (const url of [served.url, pathToFileURL(alone).href]) {
    const { page, complaints, close } = await open(url);
    await page.keyboard.press(" ");
    const go = async (frame) => {
      await page.locator("#scrub").fill(String(frame));
      await page.waitForFunction((f) => window.sunder.frame === f && window.sunder.bodiesShown === 4, frame);
      await page.waitForTimeout(300);
      return page.screenshot();
    };
    const pictures = [];
    for (const frame of [0, 4, 8, 11]) {
      pictures.push(await go(frame));
      assert.equal((await probe(page)).fronts, frame === 4 ? 1 : 0);
    }
    for (let i = 1; i < pictures.length; ++i) assert.ok(!pictures[i].equals(pictures[i - 1]));
    // Which body is hit at the points of a grid: also those that have moved from where their meshes rest.
    const box = await page.locator("#view").boundingBox();
    const picks = async (all) => {
      const names = [];
      for (let y = 0.3; y < 0.8; y += 0.08)
        for (let x = 0.2; x < 0.6; x += 0.06) {
          if (!all && names.includes("cloth") && names.includes("jelly")) return names;
          await page.mouse.click(box.x + x * box.width, box.y + y * box.height);
          await page.waitForTimeout(10);
          names.push((await probe(page)).picked);
        }
      return names;
    };
    const last = await picks(url === served.url);
    for (const name of ["cloth", "jelly"]) assert.ok(last.includes(name), `${name} among ${[...new Set(last)]}`);
    if (url === served.url) {
      await go(0);
      const first = await picks(true);
      const only = (a, b) => a.filter((name, i) => name === "jelly" && b[i] !== "jelly").length;
      assert.ok(only(first, last) > 2, "the jelly has come apart");
      assert.ok(only(last, first) > 2, "and its upper half is where nothing was");
    }
    await page.locator(".lil-gui select").first().selectOption("stress");
    await page.waitForFunction(() => !document.getElementById("legend").hidden);
    assert.deepEqual(complaints, []);
    await close();
  }
  served.stop();
});

test("a run shows itself", async () => {
  const words = ["run", scenePath, "-o", join(folder, "shown"), "--view", "--port", "0"];
  const run = spawn(sunder, words, { stdio: ["ignore", "ignore", "pipe"] });
  try {
    const url = await new Promise((resolve, reject) => {
      let text = "";
      run.stderr.on("data", (part) => {
        text += part;
        const found = /(http:\/\/127\.0\.0\.1:\d+\/?) shows/.exec(text);
        if (found) resolve(found[1]);
      });
      run.on("exit", (code) => reject(new Error(`sunder run ended with ${code}: ${text}`)));
    });
    const { page, complaints, close } = await open(url);
    await page.waitForFunction(() => window.sunder.state === "finished" && window.sunder.frames === 91);
    assert.deepEqual(complaints, []);
    await close();
    run.removeAllListeners("exit");
    const ended = new Promise((resolve) => run.on("exit", resolve));
    run.kill("SIGINT");
    assert.equal(await ended, 0);
  } finally {
    run.kill("SIGKILL");
  }
});

test("another page can neither read the run nor show it in a frame", async () => {
  const other = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<p>another page</p>"));
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const context = await browser.newContext(), page = await context.newPage();
  try {
    await page.goto(`http://127.0.0.1:${other.address().port}/`);
    const statuses = [];
    page.on("response", (answer) => answer.url().startsWith(server.url) && statuses.push(answer.status()));
    const seen = await page.evaluate(async (url) => {
      const attempt = (mode) => fetch(`${url}api/run`, { mode }).then(() => "answered", () => "refused");
      const frame = document.createElement("iframe");
      const loaded = new Promise((resolve) => (frame.onload = resolve));
      frame.src = url;
      document.body.append(frame);
      await loaded;
      return { cors: await attempt("cors"), opaque: await attempt("no-cors") };
    }, server.url);
    assert.deepEqual(seen, { cors: "refused", opaque: "refused" });
    assert.ok(statuses.length > 0 && statuses.every((status) => status === 403), `${statuses}`);
    const titles = await Promise.all(page.frames().slice(1).map((frame) => frame.locator("#view").count()));
    assert.deepEqual(titles, [0]);
    // A link leads to the viewer all the same.
    await page.evaluate((url) => { location.href = url; }, server.url);
    await page.waitForFunction(() => window.sunder?.ready, null, { timeout: 30000 });
  } finally {
    await context.close();
    other.close();
  }
});

test("a page that stands alone opens from the disk", async () => {
  const path = join(folder, "alone.html");
  runSunder("export", join(folder, "run"), "--to", "html", "-o", path);
  const { page, complaints, elsewhere, close } = await open(pathToFileURL(path).href);
  const state = await probe(page);
  assert.equal(state.frames, 91);
  assert.equal(state.bodiesShown, 10);
  assert.ok((await variety(page)).share > 0.05);
  assert.deepEqual(complaints, []);
  assert.deepEqual(elsewhere, []);
  await close();
});
