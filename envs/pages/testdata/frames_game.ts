import { connect } from "@bellman/client";

/** A game of frames, which cost nothing to draw. */
class Frames {
  readonly observationSpace = {
    ...{ type: "box", shape: [84, 84], low: 0, high: 255 } as const,
    dtype: "uint8",
  } as const;
  readonly actionSpace = { type: "discrete", n: 2 } as const;
  readonly #frame = new Uint8Array(84 * 84);

  reset() {
    return this.#frame;
  }

  step() {
    this.#frame[0]++;
    const observation = this.#frame;
    return { observation, reward: 0, terminated: false, truncated: false };
  }
}

connect(() => new Frames());
