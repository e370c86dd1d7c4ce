import type { AgentSpaces } from "@bellman/agent";
import type { Space, VecStep } from "@bellman/types";
import type { SAC } from "../sac.ts";

/** Observations of three numbers, actions of two. */
export const BOX_SPACES: AgentSpaces = {
  observationSpace: {
    type: "box",
    shape: [3],
    low: -1,
    high: 1,
    dtype: "float32",
  },
  actionSpace: { type: "box", shape: [2], low: -2, high: 2, dtype: "float32" },
  numEnvs: 2,
};

/** The same observations, three actions to choose from. */
export const DISCRETE_SPACES: AgentSpaces = {
  ...BOX_SPACES,
  actionSpace: { type: "discrete", n: 3 },
};

/** Stacks of two small frames. */
export const FRAME_SPACES: AgentSpaces = {
  ...BOX_SPACES,
  observationSpace: {
    type: "box",
    shape: [20, 20, 2],
    low: 0,
    high: 255,
    dtype: "uint8",
  },
  stackedFrames: 2,
};

const sizeOf = (space: Space) =>
  space.type === "box"
    ? space.shape.reduce((product, length) => product * length, 1)
    : 1;

/** A made-up environment whose steps follow from their number and actions. */
export class Stage {
  readonly #spaces: AgentSpaces;
  #step: number;
  #observations: Float32Array | Uint8Array;

  constructor(spaces: AgentSpaces, step = 0) {
    this.#spaces = spaces;
    this.#step = step;
    this.#observations = this.#see(step, 1);
  }

  get step(): number {
    return this.#step;
  }

  #see(step: number, sign: number): Float32Array | Uint8Array {
    const { observationSpace, numEnvs } = this.#spaces;
    const length = numEnvs * sizeOf(observationSpace);
    const isFrame = observationSpace.type === "box" &&
      observationSpace.dtype === "uint8";
    if (!isFrame) {
      return Float32Array.from(
        { length },
        (_, i) => sign * Math.sin(step + 1.7 * i),
      );
    }
    // The older frame is the newer one of the step before; the first repeats.
    const frame = (at: number, pixel: number) =>
      (Math.max(at, 0) * 31 + pixel * 7) % 256;
    return Uint8Array.from({ length }, (_, i) => {
      const age = i % 2 === 1 ? 0 : 1;
      return frame(step - age, i >> 1);
    });
  }

  /** Acts for some steps, and learns where the agent does. */
  play(agent: SAC, steps: number): Record<string, number>[] {
    const { numEnvs } = this.#spaces;
    const updates: Record<string, number>[] = [];
    for (let i = 0; i < steps; i++) {
      const actions = agent.act(this.#observations);
      const step = this.#next(actions, numEnvs);
      agent.observe(step);
      this.#observations = step.observations as Float32Array;
      const statistics = agent.update();
      if (statistics !== undefined) updates.push(statistics);
    }
    return updates;
  }

  #next(actions: ArrayLike<number>, numEnvs: number): VecStep {
    const step = ++this.#step;
    const perEnv = actions.length / numEnvs;
    return {
      observations: this.#see(step, 1),
      finalObservations: this.#see(step, -1),
      rewards: Float64Array.from(
        { length: numEnvs },
        (_, i) => Math.cos(step + i) - 0.1 * actions[i * perEnv] ** 2,
      ),
      terminated: this.#flags(step, 7),
      truncated: this.#flags(step, 11),
    };
  }

  /** Stacks of frames never end: a first frame would have to repeat. */
  #flags(step: number, every: number): Uint8Array {
    const { observationSpace, numEnvs } = this.#spaces;
    const endless = observationSpace.type === "box" &&
      observationSpace.dtype === "uint8";
    return Uint8Array.from(
      { length: numEnvs },
      (_, i) => !endless && (step + 3 * i) % every === 0 ? 1 : 0,
    );
  }
}
