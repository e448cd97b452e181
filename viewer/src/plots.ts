// Statistics over time as lines, each scaled to its own range, with the present frame marked; clicking goes there.
import { Store } from "./store";

const inks = ["#1f6fb2", "#c2571a", "#2c8a4b", "#8b4fb0"];

export class Plot {
  names: string[] = [];
  constructor(readonly canvas: HTMLCanvasElement, readonly store: Store, go: (frame: number) => void) {
    const at = (e: PointerEvent) => {
      const r = canvas.getBoundingClientRect();
      go(Math.round(((e.clientX - r.left) / r.width) * Math.max(store.frames - 1, 0)));
    };
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      at(e);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (canvas.hasPointerCapture(e.pointerId)) at(e);
    });
  }

  draw(frame: number): void {
    const ratio = window.devicePixelRatio, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (width === 0) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
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
      pen.strokeStyle = pen.fillStyle = inks[i % inks.length];
      pen.lineWidth = 1.3;
      pen.beginPath();
      values.forEach(([f, v], k) => {
        const x = (f / last) * width, y = height - 3 - ((v - low) / range) * (height - 18);
        if (k) pen.lineTo(x, y);
        else pen.moveTo(x, y);
      });
      pen.stroke();
      const now = this.store.row(frame)?.statistics[column];
      const text = `${name} ${now === undefined ? "" : Number(now.toPrecision(4))}  (${Number(low.toPrecision(3))} to ${Number(high.toPrecision(3))})`;
      pen.fillText(text, 4 + (i % 2) * (width / 2), 10 + Math.floor(i / 2) * 12);
    });
    pen.strokeStyle = "#333";
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo((frame / last) * width, 0);
    pen.lineTo((frame / last) * width, height);
    pen.stroke();
  }
}
