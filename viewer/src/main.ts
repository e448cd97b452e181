import GUI from "lil-gui";
import { niceTop, scaleColour } from "./colours";
import { Plot } from "./plots";
import { kRow, openSource } from "./source";
import { Inspector } from "./inspect";
import { coarseReady } from "./coarse";
import { Pace } from "./pace";
import { SoftProbe } from "./soft_probe";
import { kWorstQuality, Stage } from "./stage";
import { Store } from "./store";
import { Color } from "three";

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const kTell = 90; // ms
const store = new Store(openSource());

// What tests and scripts can ask the page.
interface Probe {
  ready: boolean;
  frame: number;
  frames: number;
  bodiesShown: number;
  state: string;
  arrived: number; // frames
  drawn: number; // pictures since the start
  triangles: number; // of one picture
  quality: number; // 0 is the best
  picked: string;
  overlay: string; // what is shown of the picked body
  fronts: number; // crack fronts that are shown
}
const probe: Probe = { ready: false, frame: 0, frames: 0, bodiesShown: 0, state: "", arrived: 0, drawn: 0, triangles: 0, quality: 0,
  picked: "", overlay: "", fronts: 0 };
(window as unknown as { sunder: Probe }).sunder = probe;

function fail(error: unknown): void {
  const box = element("message");
  box.textContent = error instanceof Error ? error.message : String(error);
  box.hidden = false;
}

async function start(): Promise<void> {
  await Promise.all([store.open(), coarseReady]);
  const stage = new Stage(element<HTMLCanvasElement>("view"), store, () => (dirty = true));
  const options = {
    speed: 1, loop: true, follow: store.source.live, colourBy: "material", autoRange: true, top: 1,
    shadows: true, wireframe: false, contacts: false, fronts: store.info.fronts, plotA: "", plotB: "",
    fit: () => stage.fit(),
    screenshot: () => {
      pace.still();
      stage.draw();
      const link = document.createElement("a");
      link.download = `${store.info.scene || "sunder"}-${String(frame).padStart(4, "0")}.png`;
      link.href = stage.canvas.toDataURL("image/png");
      link.click();
      dirty = true;
      pace.again();
    },
  };
  let frame = 0, playing = store.frames > 1, clock = 0, dirty = true, shownEvents = -1, shownFronts = -1;

  // Bodies that begin to have meshes of their own are drawn in another way from then on.
  const drawnAlone = () => store.info.bodies.filter((b) => b.changes).length;
  let alone = drawnAlone();

  const scrub = element<HTMLInputElement>("scrub");
  const go = (to: number, byHand = true) => {
    frame = Math.min(Math.max(Math.round(to), 0), Math.max(store.frames - 1, 0));
    clock = frame / store.info.frameRate;
    if (byHand) options.follow = false;
    dirty = true;
    void store.need(frame).then(() => (dirty = true)).catch(fail);
  };
  const plot = new Plot(element("plot"), store, go);
  const setPlaying = (on: boolean) => {
    playing = on;
    element("play").textContent = on ? "❚❚" : "▶";
    if (on && frame >= store.frames - 1 && !options.follow) go(0);
  };
  scrub.addEventListener("input", () => go(Number(scrub.value)));
  element("first").onclick = () => go(0);
  element("back").onclick = () => (setPlaying(false), go(frame - 1));
  element("forward").onclick = () => (setPlaying(false), go(frame + 1));
  element("play").onclick = () => setPlaying(!playing);

  const gui = new GUI({ title: "View" });
  const choices = () => [...new Set(["material", "body", "speed", ...store.info.fields, ...store.info.pointFields])];
  gui.add(options, "colourBy", choices()).name("colour by").onChange(() => (dirty = true));
  const range = gui.addFolder("colour range").close();
  range.add(options, "autoRange").name("of the frame").onChange(() => (dirty = true));
  range.add(options, "top").name("red at").onChange(() => (dirty = true));
  gui.add(options, "speed", 0.05, 4).name("speed");
  gui.add(options, "loop");
  if (store.source.live) gui.add(options, "follow").name("follow the run").listen();
  gui.add(options, "shadows").onChange((on: boolean) => (stage.setShadows(on), (dirty = true)));
  gui.add(options, "wireframe").onChange((on: boolean) => (stage.setWireframe(on), (dirty = true)));
  gui.add(options, "contacts").name("contact impulses").onChange(() => ((shownEvents = -1), (dirty = true)));
  if (store.info.fronts) gui.add(options, "fronts").name("crack fronts").onChange(() => ((shownFronts = -1), (dirty = true)));
  if (store.info.softMeshes.length) stage.soft.addControls(gui, () => (dirty = true));
  (window as unknown as { sunderSoft: SoftProbe }).sunderSoft = new SoftProbe(stage, () => (dirty = true));
  const ask = store.source.bytes?.bind(store.source);
  const inspector = ask && new Inspector(ask, () => (dirty = true));
  if (inspector) {
    stage.scene.add(inspector.group);
    const folder = gui.addFolder("the picked body").close(), again = () => (dirty = true);
    folder.add(inspector.options, "show", ["nothing", "tree boxes", "sphere tree", "field slice"]).onChange(again);
    folder.add(inspector.options, "level", 0, 12, 1).onChange(again);
    folder.add(inspector.options, "axis", ["x", "y", "z"]).name("slice across").onChange(again);
    folder.add(inspector.options, "at", 0, 1).name("slice at").onChange(again);
  }
  const names = ["", ...store.info.statistics];
  const wanted = ["energy", "contacts"].map((w) => names.find((n) => n === w || n.startsWith(`${w}.`)) ?? "");
  options.plotA = wanted[0] || names[1] || "";
  options.plotB = wanted[1] || names[2] || "";
  const plots = () => {
    plot.names = [options.plotA, options.plotB].filter((n) => n);
    dirty = true;
  };
  gui.add(options, "plotA", names).name("plot").onChange(plots);
  gui.add(options, "plotB", names).name("and").onChange(plots);
  gui.add(options, "fit").name("fit view (F)");
  gui.add(options, "screenshot").name("save picture (P)");
  plots();

  const readState = () => {
    const { state, message, scene } = store.info;
    element("title").textContent = scene || "Sunder";
    const label = element("state");
    label.textContent = message ? `${state}: ${message}` : state;
    label.className = state;
    probe.state = state;
    document.title = `${scene || "Sunder"} (${state})`;
  };

  const describe = () => {
    const box = element("picked");
    box.hidden = stage.selected < 0;
    probe.picked = "";
    if (stage.selected < 0) return;
    const b = store.info.bodies[stage.selected], row = store.row(frame);
    const at = stage.selected * (kRow + store.info.fields.length);
    probe.picked = b.name;
    const lines: [string, string][] = [
      ["number", String(stage.selected)], ["kind", b.kind], ["material", b.material],
      ["mass", b.mass > 0 ? `${Number(b.mass.toPrecision(4))} kg` : "fixed"],
      ["parent", b.parent >= 0 ? store.info.bodies[b.parent].name : "none"],
    ];
    if (row && stage.selected < row.bodies && !Number.isNaN(row.rows[at])) {
      lines.push(["position", Array.from(row.rows.slice(at, at + 3), (v) => v.toFixed(3)).join(" ")]);
      lines.push(["speed", `${row.rows[at + 7].toFixed(3)} m/s`]);
      store.info.fields.forEach((f, i) => lines.push([f, Number(row.rows[at + kRow + i].toPrecision(4)).toString()]));
    } else lines.push(["present", "no"]);
    box.replaceChildren(Object.assign(document.createElement("h2"), { textContent: b.name }));
    const list = document.createElement("dl");
    for (const [name, value] of lines)
      list.append(
        Object.assign(document.createElement("dt"), { textContent: name }),
        Object.assign(document.createElement("dd"), { textContent: value }),
      );
    box.append(list);
  };

  let pressed: [number, number] | null = null;
  stage.canvas.addEventListener("pointerdown", (e) => (pressed = [e.clientX, e.clientY]));
  stage.canvas.addEventListener("pointerup", (e) => {
    if (!pressed || Math.hypot(e.clientX - pressed[0], e.clientY - pressed[1]) > 4 || e.button !== 0) return;
    stage.selected = stage.pick(e.clientX, e.clientY);
    dirty = true;
  });
  window.addEventListener("keydown", (e) => {
    if (e.target instanceof HTMLInputElement && e.target.type !== "range") return;
    const step = e.shiftKey ? 10 : 1;
    const keys: Record<string, () => void> = {
      " ": () => setPlaying(!playing),
      ArrowRight: () => (setPlaying(false), go(frame + step)),
      ArrowLeft: () => (setPlaying(false), go(frame - step)),
      Home: () => go(0),
      End: () => go(store.frames - 1),
      f: () => stage.fit(),
      p: () => options.screenshot(),
      l: () => gui.controllers.find((c) => c.property === "loop")?.setValue(!options.loop),
      Escape: () => ((stage.selected = -1), (dirty = true)),
    };
    const action = keys[e.key];
    if (action) {
      e.preventDefault();
      action();
    }
  });
  window.addEventListener("resize", () => (stage.resize(), (dirty = true)));

  stage.resize();
  stage.rebuild();
  const pace = new Pace(stage.best, kWorstQuality, (level) => stage.setQuality(level));
  stage.fit();
  readState();
  setPlaying(playing);
  void store.fill(0, () => (dirty = true)).catch(fail);

  if (store.source.live) {
    const poll = async () => {
      try {
        const bodies = store.info.bodies.length;
        if (await store.refresh()) {
          if (store.info.bodies.length !== bodies || drawnAlone() !== alone) stage.rebuild();
          alone = drawnAlone();
          readState();
          if (options.follow) go(store.frames - 1, false);
          await store.fill(frame, () => (dirty = true));
          dirty = true;
        }
      } catch {
        element("state").textContent = "the server is gone";
        element("state").className = "diverged";
      }
      if (store.source.live) setTimeout(poll, 250);
      else readState();
    };
    setTimeout(poll, 250);
  }

  let barDrawn = false;
  const legend = (top: number) => {
    const scaled = options.colourBy !== "material" && options.colourBy !== "body";
    element("legend").hidden = !scaled;
    if (!scaled) return;
    element("legend-name").textContent = options.colourBy === "speed" ? "speed, m/s" : options.colourBy;
    element("legend-range").textContent = `0 to ${Number(top.toPrecision(3))}`;
    if (barDrawn) return; // it is always the same
    barDrawn = true;
    const bar = element<HTMLCanvasElement>("legend-bar"), pen = bar.getContext("2d")!, c = new Color();
    for (let x = 0; x < bar.width; ++x) {
      pen.fillStyle = `#${scaleColour(x / bar.width, c).getHexString()}`;
      pen.fillRect(x, 0, 1, bar.height);
    }
  };

  let before = performance.now(), moved = before;
  stage.controls.addEventListener("change", () => (moved = performance.now()));
  // What stands around the view follows a few times a second: laying it out for every picture costs a tenth of them.
  let told = -Infinity, untold = true;
  const tell = () => {
    untold = false;
    scrub.max = String(Math.max(store.frames - 1, 0));
    scrub.value = String(frame);
    const time = store.row(frame)?.time ?? 0;
    element("clock").textContent = `frame ${frame} of ${store.frames}, ${time.toFixed(3)} s`;
    plot.draw(frame);
  };
  const clouds = (at: number) => store.points(at, () => (dirty = true), fail);
  const tick = (now: number) => {
    requestAnimationFrame(tick);
    pace.tick(now);
    const passed = Math.min((now - before) / 1000, 0.1);
    before = now;
    if (playing && store.frames > 1 && !options.follow) {
      clock += passed * options.speed;
      const duration = store.frames / store.info.frameRate;
      if (clock >= duration) {
        if (options.loop) clock %= duration;
        else {
          clock = (store.frames - 1) / store.info.frameRate;
          setPlaying(false);
        }
      }
      const next = Math.min(Math.floor(clock * store.info.frameRate + 1e-6), store.frames - 1);
      if (next !== frame && store.row(next) && clouds(next)) {
        frame = next;
        dirty = true;
      }
    }
    const changed = dirty && (store.frames === 0 || (!!store.row(frame) && !!clouds(frame)));
    if (changed) {
      dirty = false;
      if (store.frames > 0) {
        stage.hideSelected = inspector?.coversBody ?? false;
        const top = stage.show(frame, clouds(frame)!, options.colourBy, options.autoRange ? null : options.top);
        legend(options.autoRange ? niceTop(top) : options.top);
        if (options.contacts && shownEvents !== frame) {
          shownEvents = frame;
          const asked = frame;
          void store.events(asked).then((events) => {
            if (asked === frame && options.contacts) stage.showContacts(events);
          });
        } else if (!options.contacts) stage.showContacts([]);
        if (options.fronts && shownFronts !== frame) {
          const asked = (shownFronts = frame);
          void store.source.fronts(asked).then((fronts) => {
            if (asked !== frame || !options.fronts) return;
            stage.showFronts(asked, fronts);
            probe.fronts = fronts.length;
            moved = performance.now(); // they are to be drawn
          }).catch(fail);
        } else if (!options.fronts) stage.showFronts(frame, []);
      }
      untold = true;
      describe();
      const picked = stage.selected;
      inspector?.update(picked < 0 ? -1 : store.info.bodies[picked].mesh, stage.selectedPose);
      Object.assign(probe, { frame, frames: store.frames, bodiesShown: stage.bodiesShown, overlay: inspector?.shown ?? "" });
      probe.ready = true;
    }
    if (untold && (!playing || now - told > kTell)) {
      told = now;
      tell();
    }
    // While something moves, in time; when all is still, once as well as it can be, then not at all.
    const moving = changed || now - moved < 300, more = playing && (!options.follow || store.source.live);
    if (moving || (pace.settling && !more)) {
      if (moving) pace.moving();
      else pace.still();
      stage.draw();
      Object.assign(probe, { drawn: probe.drawn + 1, triangles: stage.triangles, quality: pace.level, arrived: store.arrived });
    } else stage.controls.update();
  };
  requestAnimationFrame(tick);
}

start().catch(fail);
