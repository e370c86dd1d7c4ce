/** Three numbers from sines for each copy, with ends of both kinds. */
export class TestEnv {
  #time = 0;

  constructor(readonly numEnvs: number, readonly rewardScale = 1) {}

  #numbers(offset: number): Float32Array {
    return Float32Array.from(
      { length: 3 * this.numEnvs },
      (_, i) => Math.sin(offset + 7 * this.#time + 1.3 * i),
    );
  }

  get observations(): Float32Array {
    return this.#numbers(0);
  }

  step() {
    this.#time++;
    const ends = (every: number) =>
      Uint8Array.from(
        { length: this.numEnvs },
        (_, i) => +((this.#time + i) % every === 0),
      );
    return {
      observations: this.observations,
      finalObservations: this.#numbers(0.5),
      rewards: Float64Array.from(
        { length: this.numEnvs },
        (_, i) => this.rewardScale * Math.cos(this.#time + i),
      ),
      terminated: ends(5),
      truncated: ends(3),
    };
  }

  save(): number {
    return this.#time;
  }

  load(time: number): void {
    this.#time = time;
  }
}
