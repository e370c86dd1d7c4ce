import type { Batch, Space, VecEnv, VecStep } from "@bellman/types";

/** Copies whose episodes have fixed lengths, with a reward of 1 a step: what an evaluation should find is known. */
export class FixedEnv implements VecEnv {
  readonly observationSpace: Space = {
    type: "box",
    shape: [],
    low: -Infinity,
    high: Infinity,
    dtype: "float32",
  };
  readonly actionSpace: Space = { type: "discrete", n: 2 };
  readonly numEnvs: number;
  seeds: (number | undefined)[] = [];
  steps = 0;
  #lengths: readonly number[];
  #age: number[];

  constructor(lengths: readonly number[]) {
    this.numEnvs = lengths.length;
    this.#lengths = lengths;
    this.#age = lengths.map(() => 0);
  }
  reset(options: { seed?: number } = {}): Batch {
    this.seeds.push(options.seed);
    this.#age.fill(0);
    return this.observations();
  }
  step(_actions: Batch): VecStep {
    this.steps++;
    const ends = this.#lengths.map((length, i) => ++this.#age[i] === length);
    ends.forEach((end, i) => end && (this.#age[i] = 0));
    return {
      observations: this.observations(),
      finalObservations: this.observations(),
      rewards: new Float64Array(this.numEnvs).fill(1),
      terminated: Uint8Array.from(ends, Number),
      truncated: new Uint8Array(this.numEnvs),
    };
  }
  save(): number[] {
    return [...this.#age];
  }
  load(state: unknown): void {
    this.#age = [...state as number[]];
  }
  observations(): Batch {
    return Float32Array.from(this.#age);
  }
  close(): void {}
}
