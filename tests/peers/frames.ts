import { box, discrete, Env } from "@bellman/envs";

const SHAPE = [84, 84, 4], SIZE = 84 * 84 * 4, STEPS = 500;

/** Random frames that no action changes: what acting and learning cost alone. */
export class Frames extends Env<Uint8Array, number> {
  observationSpace = box({ low: 0, high: 255, shape: SHAPE, dtype: "uint8" });
  actionSpace = discrete(6);
  private steps = 0;
  private readonly frames = Array.from(
    { length: 8 },
    () => Uint8Array.from({ length: SIZE }, () => this.random.integer(256)),
  );

  reset(options?: { seed?: number }): Uint8Array {
    this.seed(options);
    this.steps = 0;
    return this.frames[0];
  }

  step() {
    this.steps++;
    return {
      observation: this.frames[this.steps % this.frames.length],
      reward: 1,
      terminated: this.steps === STEPS,
      truncated: false,
    };
  }
}
