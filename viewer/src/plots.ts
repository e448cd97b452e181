// Statistics over time as lines, each scaled to its own range, with the present frame marked; clicking goes there. Lines
// are drawn when something new has arrived, only the mark and the numbers follow the frame: drawing lines costs a software
// renderer more than the bodies.
import { Store } from "./store";

const inks = ["#1f6fb2", "#c2571a", "#2c8a4b", "#8b4fb0"];

interface Line {
  name: string;
  column: number;
  range: string;
  label: HTMLElement;
}

export class Plot {
  names: string[] = [];
  private readonly canvas: HTMLCanvasElement;
  private readonly mark: HTMLElement;
  private readonly labels: HTMLElement;
  private lines: Line[] = [];
  private drawn = ""; // what the lines are of

  constructor(readonly box: HTMLElement, readonly store: Store, go: (frame: number) => void) {
    this.canvas = box.querySelector("canvas")!;
    this.mark = box.querySelector(".mark")!;
    this.labels = box.querySelector(".labels")!;
    const at = (e: PointerEvent) => {
      const r = box.getBoundingClientRect();
      go(Math.round(((e.clientX - r.left) / r.width) * Math.max(store.frames - 1, 0)));
    };
    box.addEventListener("pointerdown", (e) => {
      box.setPointerCapture(e.pointerId);
      at(e);
    });
    box.addEventListener("pointermove", (e) => {
      if (box.hasPointerCapture(e.pointerId)) at(e);
    });
    new ResizeObserver(() => this.resize()).observe(box);
    this.resize();
  }

  private resize(): void {
    this.canvas.width = this.box.clientWidth * window.devicePixelRatio;
    this.canvas.height = this.box.clientHeight * window.devicePixelRatio;
    this.drawn = "";
  }

  draw(frame: number): void {
    if (this.canvas.width === 0) return;
    const key = [this.canvas.width, this.store.frames, this.store.version, ...this.names].join();
    if (key !== this.drawn) this.drawLines();
    this.drawn = key;
    const last = Math.max(this.store.frames - 1, 1);
    this.mark.style.transform = `translateX(${(frame / last) * (this.canvas.width / window.devicePixelRatio)}px)`;
    for (const { name, column, range, label } of this.lines) {
      const now = this.store.row(frame)?.statistics[column];
      label.textContent = `${name} ${now === undefined ? "" : Number(now.toPrecision(4))}  (${range})`;
    }
  }

  private drawLines(): void {
    const ratio = window.devicePixelRatio, width = this.canvas.width / ratio, height = this.canvas.height / ratio;
    const pen = this.canvas.getContext("2d")!;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.lines = [];
    const last = Math.max(this.store.frames - 1, 1);
    this.names.forEach((name, i) => {
      const column = this.store.info.statistics.indexOf(name);
      if (column < 0) return;
      let low = Infinity, high = -Infinity;
      const values: [number, number][] = [];
      const step = Math.max(1, Math.floor(this.store.frames / width));
      for (let f = 0; f < this.store.frames; f += step) {
        const v = this.store.row(f)?.statistics[column];
        if (v === undefined || !Number.isFinite(v)) continue;
        values.push([f, v]);
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
      if (!values.length) return;
      const range = high > low ? high - low : 1;
      pen.strokeStyle = inks[i % inks.length];
      pen.lineWidth = 1.3;
      pen.beginPath();
      values.forEach(([f, v], k) => {
        const x = (f / last) * width, y = height - 3 - ((v - low) / range) * (height - 18);
        if (k) pen.lineTo(x, y);
        else pen.moveTo(x, y);
      });
      pen.stroke();
      const label = document.createElement("span");
      label.style.color = inks[i % inks.length];
      this.lines.push({ name, column, range: `${Number(low.toPrecision(3))} to ${Number(high.toPrecision(3))}`, label });
    });
    this.labels.replaceChildren(...this.lines.map((l) => l.label));
  }
}
