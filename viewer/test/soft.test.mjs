// A surface in a cage in a real browser: the shader places it where the engine does, the three ways of cutting triangles look
// the same, pieces are closed, a tear writes nothing but corners of tetrahedra. Needs SUNDER_BIN and Debian's chromium; exits
// with 77 where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromiumPath, launch, serve, stopAll, sunder } from "./browser.mjs";

const folder = mkdtempSync(join(tmpdir(), "sunder-soft-")), run = join(folder, "soft");
const kSize = 1.8, kAt = [0, 1.25, 0]; // of the ball in tests/record/soft_run.h
const kVersionOf = { 0: 0, 3: 0, 5: 1, 9: 2, 11: 2 }; // by frame
let browser, server;

if (!chromiumPath) {
  console.log("no chromium: the page is not tested");
  process.exit(77);
}

function runs(program, ...words) {
  const done = spawnSync(program, words, { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
}

before(async () => {
  runs(join(dirname(sunder), "soft_run"), run);
  browser = await launch();
  server = await serve(run);
});

after(async () => {
  stopAll();
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Notes what is written to buffers and to textures of whole numbers.
function watch() {
  const gl = WebGL2RenderingContext.prototype, log = (window.writes = { buffers: 0, texels: 0, sizes: new Map() });
  for (const name of ["bufferData", "bufferSubData"]) {
    const call = gl[name];
    gl[name] = function (target, ...rest) {
      ++log.buffers;
      log.gl = this;
      if (name === "bufferData") log.sizes.set(this.getParameter(target === this.ARRAY_BUFFER ? this.ARRAY_BUFFER_BINDING : this.ELEMENT_ARRAY_BUFFER_BINDING), rest[0].byteLength ?? rest[0]);
      return call.call(this, target, ...rest);
    };
  }
  const sub = gl.texSubImage2D;
  gl.texSubImage2D = function (...all) {
    if (all[6] === this.RGBA_INTEGER) log.texels += all[4] * all[5];
    return sub.apply(this, all);
  };
  // Sums of what the card has, by buffer.
  window.contents = () => [...log.sizes].map(([buffer, size]) => {
    if (!log.gl.isBuffer(buffer)) return 0;
    const bytes = new Uint8Array(size);
    log.gl.bindBuffer(log.gl.COPY_READ_BUFFER, buffer);
    log.gl.getBufferSubData(log.gl.COPY_READ_BUFFER, 0, bytes);
    log.gl.bindBuffer(log.gl.COPY_READ_BUFFER, null);
    return bytes.reduce((sum, b) => (Math.imul(sum, 31) + b) >>> 0, 7);
  });
}

async function open(address) {
  const page = await browser.newPage({ viewport: { width: 700, height: 520 } }), complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  await page.addInitScript(watch);
  await page.goto(address);
  await page.waitForFunction(() => window.sunder?.ready && window.sunder.bodiesShown === 1, null, { timeout: 60000 });
  await page.keyboard.press(" ");
  const go = async (frame) => {
    await page.locator("#scrub").fill(String(frame));
    await page.waitForFunction(([f, v]) => window.sunder.frame === f && window.sunderSoft.states()[0]?.version === v, [frame, kVersionOf[frame]]);
    await page.waitForTimeout(150);
  };
  const set = async (options) => {
    await page.evaluate((o) => window.sunderSoft.set(o), options);
    await page.waitForTimeout(150);
  };
  return { page, complaints, go, set };
}

// Corners of the faces of an OBJ: those outside first, then those inside.
function cornersOf(path) {
  const vertices = [], corners = [];
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const words = line.split(" ");
    if (words[0] === "v") vertices.push(words.slice(1, 4).map(Number));
    else if (words[0] === "f") for (const word of words.slice(1)) corners.push(vertices[parseInt(word, 10) - 1]);
  }
  return corners;
}

test("a surface in a cage is where the engine places it", async () => {
  const { page, complaints, go } = await open(server.url);
  for (const frame of [0, 3, 5, 9]) {
    await go(frame);
    const out = join(folder, `obj-${frame}`);
    runs(sunder, "export", run, "--to", "obj", "--frames", `${frame}:${frame}`, "-o", out, "--quiet");
    const expected = cornersOf(join(out, `frame_${String(frame).padStart(4, "0")}.obj`));
    const placed = await page.evaluate(() => window.sunderSoft.placed(0, "positions"));
    assert.equal(placed.length, 3 * expected.length, `frame ${frame}: the same triangles are seen`);
    let worst = 0;
    expected.forEach((p, i) => p.forEach((x, k) => (worst = Math.max(worst, Math.abs(placed[3 * i + k] + kAt[k] - x)))));
    assert.ok(worst < 1e-5 * kSize, `frame ${frame}: ${worst}`);
    const normals = await page.evaluate(() => window.sunderSoft.placed(0, "normals"));
    for (let i = 0; i < normals.length; i += 9) {
      const corner = (list, k) => list.slice(i + 3 * k, i + 3 * k + 3), [a, b, c] = [0, 1, 2].map((k) => corner(placed, k));
      const u = b.map((x, k) => x - a[k]), v = c.map((x, k) => x - a[k]), n = corner(normals, 0);
      const area = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]], size = Math.hypot(...area);
      assert.ok(Math.abs(Math.hypot(...n) - 1) < 1e-4);
      if (size > 1e-4) assert.ok(n.reduce((sum, x, k) => sum + x * area[k], 0) / size > 0.85, "normals look outwards");
    }
  }
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a tear of a surface in a cage writes no buffer, and only the texels that it changes", async () => {
  const { page, complaints, go } = await open(server.url);
  await go(0);
  const state = () => page.evaluate(() => ({ ...window.sunderSoft.states()[0], writes: window.writes.buffers, integers: window.writes.texels, contents: window.contents() }));
  const first = await state();
  assert.ok(first.contents.length >= 10);
  for (const frame of [3, 5, 9, 5, 0, 11]) {
    await go(frame);
    const now = await state();
    assert.equal(now.checksum, first.checksum);
    assert.equal(now.uploaded, first.uploaded);
    assert.equal(now.writes, first.writes, `frame ${frame}: no buffer is written`);
    assert.deepEqual(now.contents, first.contents);
    assert.equal(now.integers - first.integers, now.sent - first.sent, "texels of tears and no others");
    const changed = now.texels.filter((x, i) => x !== first.texels[i]).length;
    assert.equal(changed > 0, frame >= 4);
    assert.ok(changed < now.texels.length);
  }
  const end = await state();
  assert.ok(end.sent > 0 && end.sent < 6 * end.tets);
  assert.deepEqual(complaints, []);
  await page.close();
});

// Share of pixels that differ, and holes: pixels of the background in the second picture, where the first shows the body all
// around. (A point on an edge is rounded to a part of a pixel, so the outline itself may differ.)
const compare = (page, ways) =>
  page.evaluate(async ([first, second]) => {
    const take = async (cut) => {
      window.sunderSoft.set({ cut });
      await new Promise((resolve) => setTimeout(resolve, 150));
      return window.sunderSoft.picture(600, 600);
    };
    const a = await take(first), b = await take(second);
    let differ = 0, holes = 0, body = 0;
    const empty = (p, i) => p[i] === p[0] && p[i + 1] === p[1] && p[i + 2] === p[2], row = 4 * 600;
    const within = (i) => [-row - 4, -row, -row + 4, -4, 0, 4, row - 4, row, row + 4].every((d) => !empty(a, i + d));
    for (let i = 0; i < a.length; i += 4) {
      differ += [0, 1, 2].some((k) => Math.abs(a[i + k] - b[i + k]) > 2);
      holes += empty(b, i) && within(i);
      body += !empty(a, i);
    }
    return { share: (4 * differ) / a.length, holes, body: (4 * body) / a.length };
  }, ways);

test("the ways of cutting a surface in a cage look the same", async () => {
  const { page, complaints, go } = await open(server.url);
  const cuts = await page.evaluate(() => window.sunderSoft.cuts);
  for (const cut of ["clipped", "discard", "whole"]) assert.ok(cuts.includes(cut));
  await go(0);
  for (const cut of cuts.filter((c) => c !== "whole")) {
    const { share, holes, body } = await compare(page, ["whole", cut]);
    assert.ok(body > 0.05, `${body}`);
    assert.ok(share < 0.0005, `intact, ${cut}: ${share}`);
    assert.equal(holes, 0, cut);
  }
  for (const frame of [5, 9])
    for (const cut of cuts.filter((c) => c !== "whole" && c !== "clipped")) {
      await go(frame);
      const { share } = await compare(page, ["clipped", cut]);
      assert.ok(share < 0.001, `frame ${frame}, ${cut}: ${share}`);
    }
  assert.deepEqual(complaints, []);
  await page.close();
});

test("pieces of a surface in a cage are closed", async () => {
  const { page, complaints, go, set } = await open(server.url);
  const layers = () => page.evaluate(() => window.sunderSoft.layers(500, 500));
  for (const [frame, by] of [[0, "tetrahedra"], [5, "tetrahedra"], [9, "tetrahedra"], [9, "pieces"], [5, "pieces"]]) {
    await go(frame);
    await set({ explode: 0.6, by });
    const { odd, covered } = await layers();
    assert.ok(covered > 5000, `${covered}`);
    assert.equal(odd, 0, `frame ${frame} in ${by}`);
  }
  await set({ walls: false, by: "tetrahedra" });
  assert.ok((await layers()).odd > 1000, "without walls they are open");
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a surface in a cage is picked, and its views change the picture", async () => {
  for (const address of [server.url, "alone"]) {
    const alone = join(folder, "alone.html");
    if (address === "alone") runs(sunder, "export", run, "--to", "html", "-o", alone, "--quiet");
    const { page, complaints, go, set } = await open(address === "alone" ? pathToFileURL(alone).href : address);
    await go(9);
    const pictures = [await page.screenshot()];
    const views = [{ cage: true }, { cage: false, copies: true }, { copies: false, solid: "wood" }, { solid: "marble" }, { solid: "flesh", explode: 0.3 },
      { by: "tetrahedra" }, { walls: false }, { walls: true, rough: true }];
    for (const options of views) {
      await set(options);
      pictures.push(await page.screenshot());
      assert.ok(!pictures.at(-1).equals(pictures.at(-2)), JSON.stringify(options));
    }
    // The materials of fast cards, which software rendering does not choose by itself.
    const differs = await page.evaluate(async () => {
      const take = async (bumps) => {
        window.sunderSoft.set({ bumps, explode: 0.3 });
        await new Promise((resolve) => setTimeout(resolve, 200));
        window.sunderSoft.rich(true);
        return window.sunderSoft.picture(300, 300);
      };
      const a = await take(true), b = await take(false);
      window.sunderSoft.rich(false);
      return a.reduce((sum, x, i) => sum + (Math.abs(x - b[i]) > 2 ? 1 : 0), 0);
    });
    assert.ok(differs > 100, `relief: ${differs}`);
    await set({ explode: 0, rough: false });
    const box = await page.locator("#view").boundingBox();
    await page.mouse.click(box.x + 0.5 * box.width, box.y + 0.62 * box.height);
    await page.waitForFunction(() => window.sunder.picked === "ball");
    await page.mouse.click(box.x + 10, box.y + 0.5 * box.height);
    await page.waitForFunction(() => window.sunder.picked === "");
    assert.deepEqual(complaints, []);
    await page.close();
  }
});
