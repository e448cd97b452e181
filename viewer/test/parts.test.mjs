// Parts of the page that need no browser: the pace, coarse stand-ins, the crowd.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const folder = mkdtempSync(join(tmpdir(), "sunder-parts-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const outfile = join(folder, "parts.mjs");
await build({
  stdin: {
    contents: `export * from "./src/pace"; export * from "./src/coarse"; export * from "./src/crowd"; export * from "./src/creases"; export * from "./src/source"; export * from "./src/soft_data"; export * from "./src/solid_textures"; export { subdivided } from "./src/soft_statics";
      export { Color, Fog, Matrix4, PerspectiveCamera, Quaternion, Vector3 } from "three";`,
    resolveDir: join(dirname(fileURLToPath(import.meta.url)), ".."),
  },
  bundle: true, format: "esm", platform: "node", outfile, logLevel: "error",
});
const { Coarse, coarseReady, Color, Creases, Crowd, Fog, Matrix4, Pace, neighboursAtRest, parseMesh, noiseTexture, parsePoints, parseTear, piecesOf, solidOf, subdivided, PerspectiveCamera, Quaternion, standIns, Vector3 } = await import(pathToFileURL(outfile).href);

// Plays for so many ms on a machine that takes cost[level] for a picture; screens have 60 ticks a second.
function play(pace, cost, duration, state = { now: 0, changes: [] }, drawEvery = 1) {
  const end = state.now + duration;
  let level = pace.level;
  for (let i = 0; state.now < end; ++i) {
    pace.tick(state.now);
    if (pace.level !== level) state.changes.push([state.now, (level = pace.level)]);
    const draws = i % drawEvery === 0;
    if (draws) pace.moving();
    state.now += draws ? Math.max(1000 / 60, cost[pace.level]) : 1000 / 60;
  }
  return state;
}
const paceFrom = (moving) => new Pace({ still: 0, moving }, 6, () => {});

test("a slow machine gives up quality within a second, and stays where it is fast enough", () => {
  for (const best of [0, 4]) {
    const pace = paceFrom(best), cost = [170, 160, 150, 140, 90, 60, 30];
    const state = play(pace, cost, best === 0 ? 2000 : 1000);
    assert.equal(pace.level, 6);
    assert.ok(state.changes[0][0] <= 1000, `first step after ${state.changes[0][0]} ms`);
    const before = state.changes.length;
    play(pace, cost, 600_000, state);
    assert.equal(state.changes.length, before, "10 minutes at 33 pictures a second change nothing");
  }
});

test("quality that was given up for a moment comes back, and a level that is too slow is tried less and less", () => {
  const pace = paceFrom(0), state = play(pace, [200, 200, 200, 200, 200, 200, 200], 5000);
  assert.equal(pace.level, 6);
  play(pace, [1, 1, 1, 1, 1, 1, 1], 60_000, state);
  assert.equal(pace.level, 0);
  const swinging = paceFrom(0), swings = play(swinging, [60, 10, 10, 10, 10, 10, 10], 600_000);
  assert.ok(swings.changes.length < 20, `${swings.changes.length} changes in 10 minutes`);
});

test("a machine that is fast enough loses nothing, also where pictures are rare", () => {
  const pace = paceFrom(0);
  assert.deepEqual(play(pace, [16, 16, 16, 16, 16, 16, 16], 60_000).changes, []);
  assert.deepEqual(play(pace, [16, 16, 16, 16, 16, 16, 16], 60_000, undefined, 20).changes, []);
});

await coarseReady;

function sphere(radius, rows) {
  const positions = [], indices = [];
  for (let i = 0; i <= rows; ++i)
    for (let j = 0; j < 2 * rows; ++j) {
      const a = (Math.PI * i) / rows, b = (Math.PI * j) / rows;
      positions.push(radius * Math.sin(a) * Math.cos(b), radius * Math.cos(a), radius * Math.sin(a) * Math.sin(b));
    }
  const at = (i, j) => i * 2 * rows + (j % (2 * rows));
  for (let i = 0; i < rows; ++i)
    for (let j = 0; j < 2 * rows; ++j) indices.push(at(i, j), at(i, j + 1), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
  return { positions: Float32Array.from(positions), indices: Uint32Array.from(indices) };
}

function volume(geometry) {
  const p = geometry.getAttribute("position").array, list = geometry.getIndex().array, v = (i) => new Vector3().fromArray(p, 3 * list[i]);
  let sum = 0;
  for (let t = 0; t < list.length; t += 3) sum += v(t).dot(v(t + 1).cross(v(t + 2))) / 6;
  return sum;
}

test("stand-ins keep the shape and the budget", () => {
  const fine = sphere(1, 40);
  const coarse = new Coarse(fine);
  for (const [triangles, error] of [[40, 0.4], [150, 0.12], [600, 0.03]]) {
    const standIn = coarse.at(triangles), got = volume(standIn.geometry);
    assert.ok(Math.abs(got / ((4 * Math.PI) / 3) - 1) < error, `${triangles} triangles: ${got}`);
    assert.ok(standIn.triangles <= 1.2 * triangles && standIn.geometry.getIndex().count === 3 * standIn.triangles);
    // Normals are those of the fine mesh, which are its places here.
    const place = standIn.geometry.getAttribute("position"), normal = standIn.geometry.getAttribute("normal");
    for (let v = 0; v < place.count; ++v)
      assert.ok(new Vector3().fromBufferAttribute(place, v).dot(new Vector3().fromBufferAttribute(normal, v)) > 0.99);
  }
  const meshes = [{ coarse: new Coarse(sphere(0.1, 30)), bodies: 100 }, { coarse: new Coarse(sphere(5, 40)), bodies: 1 }];
  let last = 0;
  for (const budget of [8000, 20_000, 60_000]) {
    const [small, large] = standIns(meshes, budget).map((g) => g.getIndex().count / 3);
    assert.ok(100 * small + large <= budget, `${100 * small + large} of ${budget}`);
    assert.ok(100 * small + large > last, "more is used where more is allowed");
    last = 100 * small + large;
    assert.ok(large > small && large <= Math.max(0.05 * budget, 2500), `the large body is finer, within its share: ${large} and ${small} of ${budget}`);
  }
  assert.equal(standIns(meshes, 1e9)[1].getIndex().count, 3 * meshes[1].coarse.triangles);
});

test("the crowd shows what faces the eye, in its place", () => {
  const geometry = new Coarse(sphere(0.5, 20)).at(200).geometry, list = geometry.getIndex().array, rest = geometry.getAttribute("position").array;
  const light = { way: new Vector3(0, 1, 0), sun: new Color(1, 1, 1), sky: new Color(0.2, 0.2, 0.2), earth: new Color(0, 0, 0), fog: new Fog(0xffffff, 100, 200) };
  const members = [0, 1, 2, 3].map((body) => ({ body, geometry, opacity: 1 }));
  const crowd = new Crowd(members, false, light, null), camera = new PerspectiveCamera(40, 1.5, 0.1, 100);
  camera.position.set(1, 2, 6);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  const poses = new Float32Array(64), tints = new Float32Array(12).fill(0.5); // the last one is not there
  const turned = new Matrix4().compose(new Vector3(0.3, -0.2, 0.1), new Quaternion(0.5, 0.5, 0.5, 0.5), new Vector3(1, 1, 1));
  poses.set(turned.elements, 0);
  poses.set(new Matrix4().makeTranslation(40, 0, 0).elements, 16); // beside
  poses.set(new Matrix4().makeTranslation(2, 4, 12).elements, 32); // behind the eye
  crowd.update(poses, tints, camera, 720);
  const corner = (i) => new Vector3().fromArray(rest, 3 * list[i]).applyMatrix4(turned), expected = [];
  for (let t = 0; t < list.length; t += 3) {
    const [a, b, c] = [corner(t), corner(t + 1), corner(t + 2)];
    const normal = b.clone().sub(a).cross(c.clone().sub(a));
    if (normal.dot(camera.position.clone().sub(a)) > 0) expected.push(list[t], list[t + 1], list[t + 2]);
  }
  const drawn = crowd.mesh.geometry.drawRange.count;
  assert.ok(expected.length > 0.3 * list.length && expected.length < 0.6 * list.length);
  assert.deepEqual(Array.from(crowd.mesh.geometry.getIndex().array.slice(0, drawn)), expected);
  const position = crowd.mesh.geometry.getAttribute("position").array;
  for (let v = 0; v < rest.length / 3; ++v) {
    const place = new Vector3().fromArray(rest, 3 * v).applyMatrix4(turned);
    assert.ok(place.distanceTo(new Vector3().fromArray(position, 3 * v)) < 1e-6);
  }
  const tint = crowd.mesh.geometry.getAttribute("tint").array;
  const top = Math.max(...Array.from({ length: rest.length / 3 }, (_, v) => tint[4 * v]));
  assert.ok(Math.abs(top - 203) < 6, `${top}: half of 1.2, on the screen`);
});

test("bodies smaller than a pixel are left out", () => {
  const geometry = new Coarse(sphere(0.5, 10)).at(60).geometry;
  const light = { way: new Vector3(0, 1, 0), sun: new Color(), sky: new Color(), earth: new Color(), fog: new Fog(0, 1e5, 2e5) };
  const crowd = new Crowd([{ body: 0, geometry, opacity: 1 }], false, light, null), camera = new PerspectiveCamera(90, 1, 0.1, 1e6);
  camera.updateMatrixWorld();
  for (const [distance, seen] of [[300, true], [420, false]]) {
    crowd.update(new Float32Array(new Matrix4().makeTranslation(0, 0, -distance).elements), new Float32Array(3), camera, 720);
    assert.equal(crowd.mesh.geometry.drawRange.count > 0, seen, `${distance} m: a pixel is ${distance / 360} m`);
  }
});

test("normals of a bent strip are smooth over what is flat at rest, and sharp over a crease", () => {
  const strip = (angle) => Float32Array.from([0, 1].flatMap((z) => [-1, 0, z, 0, 0, z, Math.cos(angle), Math.sin(angle), z]));
  const indices = Uint32Array.from([0, 3, 1, 1, 3, 4, 1, 4, 2, 2, 4, 5]);
  const across = (rest, now) => {
    const normals = new Float32Array(36), places = new Float32Array(36);
    new Creases(strip(rest), indices).corners(strip(now), places, normals);
    assert.deepEqual([...places.slice(6, 9)], [0, 0, 0]);
    return [0, 1, 2].reduce((sum, k) => sum + normals[6 + k] * normals[18 + k], 0); // both at vertex 1
  };
  assert.ok(across(0, Math.PI / 3) > 0.999);
  assert.ok(across(Math.PI / 3, Math.PI / 3) < 0.6);
  assert.ok(across(Math.PI / 3, Math.PI / 9) < 0.95);
});

test("meshes with slots, and points that rest, are read as they are written", () => {
  const data = new ArrayBuffer(8 + 36 + 12 + 4 + 4 + 2), view = new DataView(data);
  view.setUint32(0, 3, true);
  view.setUint32(4, 1, true);
  [0, 1, 2].forEach((v, k) => view.setUint32(44 + 4 * k, v, true));
  view.setUint8(56, 1);
  view.setUint32(60, 7, true);
  view.setUint16(64, 2, true);
  const mesh = parseMesh(data);
  assert.deepEqual([[...mesh.interior], mesh.named, [...mesh.slots]], [[1], 7, [2]]);
  assert.throws(() => parseMesh(data.slice(0, 62)));
  const points = new ArrayBuffer(8 + 16 + 8), out = new DataView(points);
  out.setUint32(0, 1, true);
  out.setUint32(4, 1, true);
  out.setUint32(12, 2, true);
  out.setUint32(20, 1, true);
  out.setFloat32(28, 5, true);
  const [cloud] = parsePoints(points);
  assert.equal(cloud.positions.length, 0);
  assert.deepEqual([...cloud.values[0]], [0, 5]);
});

test("pieces of a cage part where faces are open", () => {
  // Two tetrahedra that share the face opposite to corner 0 of the first and corner 3 of the second.
  const rest = Uint32Array.from([0, 1, 2, 3, 1, 2, 3, 4]), neighbours = neighboursAtRest(rest);
  assert.deepEqual([...neighbours], [7, -1, -1, -1, -1, -1, -1, 0]);
  assert.equal(piecesOf(rest, neighbours).count, 1);
  const torn = Uint32Array.from([0, 1, 2, 3 | (15 << 28), 5, 2, 3, 4 | (15 << 28)]);
  const pieces = piecesOf(torn, neighbours);
  assert.deepEqual([pieces.count, ...pieces.of], [2, 0, 1]);
});

test("tears are read as they are written", () => {
  const words = Uint32Array.from([3, 1, 28, 1, 0, 0, 0, 1, 7, 1, 2, 3, 4]), tear = parseTear(words.buffer);
  assert.deepEqual([tear.mesh, tear.fresh, tear.nodes, tear.rest.length], [3, true, 28, 3]);
  assert.deepEqual([[...tear.tets], [...tear.texels]], [[7], [1, 2, 3, 4]]);
  assert.throws(() => parseTear(Uint32Array.from([...words, 0]).buffer));
});

test("walls are divided without gaps", () => {
  const part = {
    weights: Float32Array.from([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]), covectors: new Float32Array(9).fill(1),
    rest: Float32Array.from([0, 0, 0, 1, 0, 0, 0, 1, 0]), tets: Uint32Array.from([4, 4, 4]), flags: Uint32Array.from([3, 3, 3]),
    indices: Uint32Array.from([0, 1, 2]),
  };
  const fine = subdivided(part, 4);
  let area = 0;
  for (let t = 0; t < fine.indices.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => fine.rest.subarray(3 * fine.indices[t + k], 3 * fine.indices[t + k] + 3));
    const own = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    assert.ok(own > 0);
    area += own / 2;
  }
  assert.equal(fine.indices.length, 3 * 16);
  assert.ok(Math.abs(area - 0.5) < 1e-6);
  for (let v = 0; v < fine.tets.length; ++v) {
    assert.ok(Math.abs(fine.weights.subarray(4 * v, 4 * v + 4).reduce((s, w) => s + w) - 1) < 1e-6);
    assert.equal(fine.tets[v], 4);
  }
});

test("solid textures are chosen by the name of the material", () => {
  assert.deepEqual(["oak", "marble", "flesh", "concrete", "rubber"].map(solidOf), ["wood", "marble", "flesh", "grain", "plain"]);
});

// tests/show/solid_texture_test.cpp has the same numbers: pictures and the page show the same grain.
test("the noise of solid textures is that of pictures", () => {
  const { data, width } = noiseTexture().image;
  assert.equal(width, 32);
  assert.deepEqual([...data.slice(0, 8)], [198, 93, 206, 243, 38, 186, 57, 177]);
  const noise = (...p) => {
    const at = p.map((c) => 32 * c - 0.5), below = at.map(Math.floor);
    let sum = 0;
    for (let corner = 0; corner < 8; ++corner) {
      let weight = 1;
      const cell = [0, 1, 2].map((k) => {
        const upper = (corner >> k) & 1;
        weight *= upper ? at[k] - below[k] : 1 - (at[k] - below[k]);
        return (below[k] + upper) & 31;
      });
      sum += weight * data[(cell[2] * 32 + cell[1]) * 32 + cell[0]];
    }
    return sum / 255;
  };
  assert.ok(Math.abs(noise(0.1, 0.2, 0.3) - 0.6160588) < 1e-6);
  assert.ok(Math.abs(noise(-0.37, 1.61, 0.05) - 0.3343837) < 1e-6);
});
