// Holds the frame rate: where pictures take too long while things move, quality is given up step by step, and taken back
// when there is time to spare. When all is still, one picture of the best quality is drawn.

const kSlow = 42, kFast = 30; // ms a picture; one that is as fast as the screen takes 17
const kWatch = 200, kPictures = 3; // ms and pictures before quality falls
const kCalm = 4000; // ms of fast pictures before it rises
const kUnsettled = 1; // pictures after a change that say nothing: they prepare what is new

export class Pace {
  level: number; // of moving pictures
  settling = true;
  private before = 0;
  private drew = false;
  private time = 0;
  private pictures = -kUnsettled;
  private calm = 0;
  // A level that was too slow is not tried again soon, and later each time.
  private tooSlow = -1;
  private waiting = 10_000;
  private retryAt = 0;

  constructor(
    private readonly best: { still: number; moving: number }, private readonly worst: number,
    private readonly setQuality: (level: number) => void,
  ) {
    this.level = best.moving;
    setQuality(this.level);
  }

  // For every tick of the screen: the time that passed since the last one counts if a picture was drawn in it.
  tick(now: number): void {
    const passed = now - this.before;
    this.before = now;
    if (!this.drew || passed > 1000) return; // nothing moved, or the page was hidden
    this.drew = false;
    if (++this.pictures <= 0) return;
    this.time += passed;
    if (this.pictures < kPictures || this.time < kWatch) return;
    const mean = this.time / this.pictures;
    this.calm = mean < kFast ? this.calm + this.time : 0;
    this.time = this.pictures = 0;
    if (mean > kSlow && this.level < this.worst) {
      if (this.tooSlow === this.level) this.waiting *= 2;
      this.tooSlow = this.level;
      this.retryAt = now + this.waiting;
      this.change(this.level + Math.ceil(Math.log2(mean / kSlow))); // a level is worth about a half
    } else if (this.calm >= kCalm && this.level > this.best.moving && (this.level - 1 > this.tooSlow || now > this.retryAt)) {
      this.change(this.level - 1);
    }
  }

  private change(level: number): void {
    this.level = Math.min(level, this.worst);
    this.calm = 0;
    this.pictures = -kUnsettled;
    this.setQuality(this.level);
  }

  moving(): void {
    if (!this.settling) {
      this.setQuality(this.level); // back from the still picture
      this.time = 0;
      this.pictures = -kUnsettled;
    }
    this.settling = true;
    this.drew = true;
  }

  // After something else has drawn in another quality.
  again(): void {
    this.settling = false;
  }

  still(): void {
    this.settling = false;
    this.drew = false;
    this.setQuality(this.best.still);
  }
}
