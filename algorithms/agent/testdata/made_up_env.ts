import { actionChoices } from "@bellman/envs";
import type { DiscreteSpace, Space, Statistics, VecStep } from "@bellman/types";
import type { ActionArray } from "@bellman/policies";
import type { AgentSpaces } from "../mod.ts";

/** Observations of three numbers. */
export const THREE_NUMBERS: Space = {
  type: "box",
  shape: [3],
  low: -1,
  high: 1,
  dtype: "float32",
};

/** Actions of every kind. */
export const ACTIONS = {
  discrete: { type: "discrete", n: 3 },
  "discrete from 5": { type: "discrete", n: 2, start: 5 },
  box: { type: "box", shape: [2], low: -0.5, high: 0.5, dtype: "float32" },
  multiDiscrete: { type: "multiDiscrete", nvec: [2, 3] },
  multiBinary: { type: "multiBinary", n: 2 },
} as const satisfies Record<string, Space>;

/** Spaces of two environments with observations of three numbers. */
export function spacesOf(
  actions: keyof typeof ACTIONS,
  numEnvs = 2,
  actionMasks = false,
): AgentSpaces {
  const actionSpace: Space = ACTIONS[actions];
  return { observationSpace: THREE_NUMBERS, actionSpace, numEnvs, actionMasks };
}

/** Stacks of two small frames. */
export const FRAMES: AgentSpaces = {
  ...spacesOf("box"),
  observationSpace: {
    type: "box",
    shape: [20, 20, 2],
    low: 0,
    high: 255,
    dtype: "uint8",
  },
  stackedFrames: 2,
};

/** An agent, as {@link MadeUpEnv} plays with it. */
interface Player {
  act(
    observations: Float32Array | Uint8Array,
    actionMasks?: Uint8Array,
  ): ActionArray;
  observe(step: VecStep): void;
  update(): Statistics | undefined;
}

/** All that an agent decided and learned. */
export interface Played {
  actions: ActionArray[];
  /** Statistics of the updates. */
  updates: Statistics[];
}

/**
 * Made-up environments whose steps follow from their number and from the actions,
 * with ends of both kinds. Where they mask actions, a forbidden one throws.
 */
export class MadeUpEnv {
  constructor(readonly spaces: AgentSpaces, public time = 0) {}

  /** Observations after so many steps, which may be half ones. */
  observationsAt(time: number): Float32Array | Uint8Array {
    const { observationSpace, numEnvs, stackedFrames } = this.spaces;
    const { shape } = observationSpace as { shape: readonly number[] };
    const length = shape.reduce((size, side) => size * side, numEnvs);
    if (stackedFrames === undefined) {
      return Float32Array.from(
        { length },
        (_, i) => Math.sin(7 * time + 1.3 * i),
      );
    }
    // The older frame is the newer one of the step before; the first repeats.
    return Uint8Array.from({ length }, (_, i) => {
      const at = Math.max(0, Math.ceil(time) - 1 + i % 2);
      return (at * 31 + (i >> 1) * 7) % 256;
    });
  }

  /** Masks after so many steps: of each part one choice is allowed, or some more. */
  masksAt(time: number): Uint8Array | undefined {
    const { actionSpace, numEnvs, actionMasks } = this.spaces;
    if (!actionMasks) return undefined;
    const masks = Array.from(
      { length: numEnvs },
      (_, env) =>
        actionChoices(actionSpace)!.map((n, part) =>
          Array.from({ length: n }, (_, i) => {
            const at = Math.ceil(2 * time) + env + part;
            return +((at + i) % n === 0 || (at + i) % 5 === 0);
          })
        ),
    );
    return Uint8Array.from(masks.flat(2));
  }

  /** Present masks. */
  get actionMasks(): Uint8Array | undefined {
    return this.masksAt(this.time);
  }

  #checkAllowed(actions: ArrayLike<number>): void {
    const { actionSpace, numEnvs } = this.spaces, masks = this.actionMasks;
    if (masks === undefined || actions.length === 0) return;
    const choices = actionChoices(actionSpace)!;
    const start = (actionSpace as DiscreteSpace).start ?? 0;
    let at = 0;
    for (let i = 0; i < numEnvs * choices.length; i++) {
      if (masks[at + actions[i] - start] !== 1) {
        throw new Error(`step ${this.time} forbids action ${actions[i]}`);
      }
      at += choices[i % choices.length];
    }
  }

  /** Present observations. */
  get observations(): Float32Array | Uint8Array {
    return this.observationsAt(this.time);
  }

  /** The next step. */
  step(actions: ArrayLike<number> = []): VecStep {
    const { numEnvs, stackedFrames } = this.spaces;
    this.#checkAllowed(actions);
    const time = this.time++, perEnv = actions.length / numEnvs;
    // Stacks of frames go on for ever: a first frame would have to repeat.
    const ends = (every: number) =>
      Uint8Array.from(
        { length: numEnvs },
        (_, i) => +(stackedFrames === undefined && (time + i) % every === 0),
      );
    return {
      observations: this.observations,
      finalObservations: this.observationsAt(time + 0.5),
      actionMasks: this.actionMasks,
      finalActionMasks: this.masksAt(time + 0.5),
      rewards: Float64Array.from(
        { length: numEnvs },
        (_, i) => Math.cos(time + i) - 0.1 * (actions[i * perEnv] ?? 0) ** 2,
      ),
      terminated: ends(5),
      truncated: ends(3),
    };
  }

  /** Acts for some steps, and learns where the agent does. */
  play(agent: Player, steps: number): Played {
    const played: Played = { actions: [], updates: [] };
    for (let i = 0; i < steps; i++) {
      const actions = agent.act(this.observations, this.actionMasks);
      played.actions.push(actions.slice());
      agent.observe(this.step(actions));
      const statistics = agent.update();
      if (statistics !== undefined) played.updates.push(statistics);
    }
    return played;
  }
}
