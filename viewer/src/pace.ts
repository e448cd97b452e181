// Holds the frame rate: where pictures take too long while things move, quality is given up step by step, and taken back
// when there is time to spare. When all is still, one picture of the best quality is drawn.
import { kWorstQuality } from "./stage";

const kSlow = 42, kFast = 14; // ms a picture
const kPatience = 8, kCaution = 240; // pictures in a row before quality falls or rises

export class Pace {
  level: number; // of moving pictures
  settling = true;
  private before = 0;
  private slow = 0;
  private fast = 0;
  private risenFrom = Infinity; // a level that was tried and too slow is not tried again soon

  constructor(private readonly best: { still: number; moving: number }, private readonly setQuality: (level: number) => void) {
    this.level = best.moving;
    setQuality(this.level);
  }

  moving(now: number): void {
    const passed = now - this.before;
    this.before = now;
    if (this.settling === false) this.setQuality(this.level); // back from the still picture
    this.settling = true;
    if (passed > 1000) return; // the page was hidden, or nothing moved
    this.slow = passed > kSlow ? this.slow + 1 : 0;
    this.fast = passed < kFast ? this.fast + 1 : 0;
    if (this.slow >= kPatience && this.level < kWorstQuality) {
      this.slow = 0;
      this.risenFrom = this.level;
      this.setQuality(++this.level);
    } else if (this.fast >= kCaution && this.level > this.best.moving && this.level - 1 !== this.risenFrom) {
      this.fast = 0;
      this.setQuality(--this.level);
    }
  }

  // After something else has drawn in another quality.
  again(): void {
    this.settling = false;
  }

  still(): void {
    this.settling = false;
    this.setQuality(this.best.still);
  }
}
