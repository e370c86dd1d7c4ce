import { connect } from "@bellman/client";

/** A game whose random numbers no snapshot holds. */
class Careless {
  readonly observationSpace = {
    ...{ type: "box", shape: [1], low: 0, high: 1, dtype: "float32" } as const,
  };
  readonly actionSpace = { type: "discrete", n: 2 } as const;

  reset() {
    return [Math.random()];
  }

  step() {
    const observation = [Math.random()];
    return { observation, reward: 1, terminated: false, truncated: false };
  }
}

connect(() => new Careless());
