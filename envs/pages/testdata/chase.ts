import type { RandomSource } from "@bellman/types";
import { Env } from "../../base/env.ts";
import { box, discrete } from "../../spaces/constructors.ts";

/** Follows a point that jumps at random; `speed` is the length of a step. */
export class Chase extends Env<Float32Array, number> {
  observationSpace = box({ low: -4, high: 4, shape: [2] });
  actionSpace = discrete(3);
  private at = 0;
  private goal = 0;
  private speed = 1;
  private steps = 0;
  #stream: RandomSource = this.random;

  reset(
    options: { seed?: number; parameters?: Record<string, unknown> } = {},
  ): Float32Array {
    this.seed(options);
    return this.begin(this.random, options.parameters ?? {});
  }

  /** Starts an episode with a stream of random numbers. */
  begin(
    random: RandomSource,
    { speed = 1 }: Readonly<Record<string, unknown>>,
  ): Float32Array {
    this.#stream = random;
    this.at = 0;
    this.speed = Number(speed);
    this.steps = 0;
    return this.#jump();
  }

  step(action: number) {
    this.at = Math.max(-4, Math.min(4, this.at + this.speed * (action - 1)));
    const reward = 1 - Math.abs(this.at - this.goal) / 4;
    const truncated = ++this.steps >= 20;
    return { observation: this.#jump(), reward, terminated: false, truncated };
  }

  #jump(): Float32Array {
    this.goal = 2 * this.#stream.uniform() - 1;
    return Float32Array.of(this.at, this.goal);
  }
}
