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
const kSize = 1.8; // of the ball in tests/record/soft_run.h
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

// Positions and normals by corner of a GLB, in the frame of the body: of those outside first, then of those inside.
function cornersOf(path) {
  const file = readFileSync(path), length = file.readUInt32LE(12), glb = JSON.parse(file.subarray(20, 20 + length)), data = file.subarray(28 + length);
  const numbers = (index, size) => {
    const { bufferView, byteOffset = 0, count, componentType } = glb.accessors[index], from = (glb.bufferViews[bufferView].byteOffset ?? 0) + byteOffset;
    const read = { 5126: (i) => data.readFloatLE(from + 4 * i), 5125: (i) => data.readUInt32LE(from + 4 * i), 5123: (i) => data.readUInt16LE(from + 2 * i) }[componentType];
    return Array.from({ length: size * count }, (_, i) => read(i));
  };
  const positions = [], normals = [];
  for (const { attributes, indices } of glb.meshes[0].primitives) {
    const p = numbers(attributes.POSITION, 3), n = numbers(attributes.NORMAL, 3);
    for (const i of numbers(indices, 1)) {
      positions.push(...p.slice(3 * i, 3 * i + 3));
      normals.push(...n.slice(3 * i, 3 * i + 3));
    }
  }
  return { positions, normals };
}

test("a surface in a cage is where the engine places it", async () => {
  const { page, complaints, go } = await open(server.url);
  for (const frame of [0, 3, 5, 9]) {
    await go(frame);
    const out = join(folder, `glb-${frame}`);
    runs(sunder, "export", run, "--to", "glb", "--frames", `${frame}:${frame}`, "-o", out, "--quiet");
    const expected = cornersOf(join(out, `frame_${String(frame).padStart(4, "0")}.glb`));
    for (const [what, most] of [["positions", 1e-5 * kSize], ["normals", 1e-4]]) {
      const placed = await page.evaluate((w) => window.sunderSoft.placed(0, w), what);
      assert.equal(placed.length, expected[what].length, `frame ${frame}: the same triangles are seen`);
      const worst = placed.reduce((sum, x, i) => Math.max(sum, Math.abs(x - expected[what][i])), 0);
      assert.ok(worst < most, `frame ${frame}: ${what} differ by ${worst}`);
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

// The published masks leave gaps along contours that halve with the size of their texels.
test("masks show the same walls, with gaps of a texel", async () => {
  const { page, complaints, go, set } = await open(server.url);
  await go(9);
  await set({ explode: 0.6, by: "tetrahedra" });
  const odd = [];
  for (const masks of [32, 64, 128]) {
    await set({ masks });
    odd.push((await page.evaluate(() => window.sunderSoft.layers(500, 500))).odd);
  }
  assert.ok(odd[0] > 100, `${odd}`);
  for (const k of [0, 1]) assert.ok(odd[k] / odd[k + 1] > 1.5 && odd[k] / odd[k + 1] < 2.7, `gaps of ${odd} pixels`);
  await set({ masks: 0 });
  assert.equal((await page.evaluate(() => window.sunderSoft.layers(500, 500))).odd, 0);
  const compared = await page.evaluate(async () => {
    const take = async (options) => {
      window.sunderSoft.set(options);
      await new Promise((resolve) => setTimeout(resolve, 150));
      return window.sunderSoft.picture(400, 400);
    };
    const share = (a, b) => a.reduce((sum, x, i) => sum + (Math.abs(x - b[i]) > 2 ? 1 : 0), 0) / a.length;
    const plain = await take({ masks: 0 }), masked = await take({ masks: 128 });
    const own = await take({ masks: 0, own: true, outer: "#0000ff", inner: "#00ff00" });
    return { masks: share(plain, masked), own: share(plain, own) };
  });
  assert.ok(compared.masks > 0 && compared.masks < 0.02, `${compared.masks}`);
  assert.ok(compared.own > 0.02, `${compared.own}`);
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
