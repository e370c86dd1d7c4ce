import type {
  Env,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { box, dict, discrete } from "../spaces/constructors.ts";

/** Counts up; its observations are records. It terminates after three steps. */
export class DictEnv implements Env {
  readonly observationSpace: Space = dict({
    count: discrete(4),
    half: box({ low: 0, high: 2, shape: [1] }),
  });
  readonly actionSpace: Space = discrete(2);
  #count = 0;

  #observation(): SpaceValue {
    return { count: this.#count, half: Float32Array.of(this.#count / 2) };
  }

  reset(): SpaceValue {
    this.#count = 0;
    return this.#observation();
  }

  step(): StepResult {
    this.#count = Math.min(this.#count + 1, 3);
    return {
      observation: this.#observation(),
      reward: this.#count,
      terminated: this.#count === 3,
      truncated: false,
    };
  }

  save(): StateTree {
    return this.#count;
  }

  load(snapshot: StateTree): void {
    this.#count = snapshot as number;
  }

  render(): RgbImage {
    return { width: 1, height: 1, data: new Uint8Array(3) };
  }

  close(): void {}
}
