import type { Space, StateTree } from "@bellman/types";
import type { ObservationScale } from "@bellman/policies";
import type { RewardScale } from "../mod.ts";
import { THREE_NUMBERS } from "./made_up_env.ts";

/** Scales of observations and rewards that are what a test says. */
export class GivenScale implements ObservationScale, RewardScale {
  seen = 0;

  constructor(
    public mean: number,
    public deviation: number,
    readonly space: Space & { shape?: readonly number[] } = THREE_NUMBERS,
  ) {}

  get scaling() {
    const each = (value: number) => Array(this.space.shape![0]).fill(value);
    const { mean, deviation } = this;
    return { mean: each(mean), variance: each(deviation ** 2), clip: 50 };
  }

  see(batch: unknown): void {
    this.seen += (batch as ArrayLike<number>).length;
  }

  apply(given: unknown, scaled: unknown): void {
    const batch = given as ArrayLike<number>, target = scaled as Float32Array;
    for (let i = 0; i < batch.length; i++) {
      target[i] = (batch[i] - this.mean) / this.deviation;
    }
  }

  scale(rewards: ArrayLike<number>, target: Float32Array): void {
    for (let i = 0; i < rewards.length; i++) {
      target[i] = rewards[i] / this.deviation;
    }
  }

  save(): StateTree {
    return [this.mean, this.deviation];
  }

  load(state: StateTree): void {
    [this.mean, this.deviation] = state as number[];
  }
}
