import type { Trainable } from "@bellman/types";
import { assert } from "@std/assert";

/** Behaviour of a row of a {@link ToyVecEnv}. */
export interface ToyTask {
  observationSpace: { type: "discrete"; n: number };
  actionSpace:
    | { type: "discrete"; n: number }
    | { type: "multiDiscrete"; nvec: number[] }
    | { type: "multiBinary"; n: number }
    | {
      type: "box";
      shape: number[];
      low: number;
      high: number;
      dtype: "float32";
    };
  /** Steps of an episode. */
  length: number;
  /** End of an episode: terminated or truncated. */
  ends: "terminated" | "truncated";
  /** Observation of the next step; `time` counts from 0 in each episode. */
  observation(time: number, row: number): number;
  reward(
    observation: number,
    action: ArrayLike<number>,
    at: { time: number; row: number },
  ): number;
  /** Actions that an observation allows, of discrete ones; a forbidden one throws. */
  allows?(observation: number, action: number): boolean;
}

/** Rows of a task whose values are known in closed form. */
export class ToyVecEnv {
  readonly observationSpace: ToyTask["observationSpace"];
  readonly actionSpace: ToyTask["actionSpace"];
  #time = 0;

  constructor(readonly task: ToyTask, readonly numEnvs: number) {
    this.observationSpace = task.observationSpace;
    this.actionSpace = task.actionSpace;
  }

  #observe(time: number): Int32Array {
    return Int32Array.from(
      { length: this.numEnvs },
      (_, row) => this.task.observation(time, row),
    );
  }

  get actionMasks(): Uint8Array | undefined {
    return this.#masksOf(this.observations());
  }

  #masksOf(observations: Int32Array): Uint8Array | undefined {
    const { allows, actionSpace } = this.task;
    if (allows === undefined || actionSpace.type !== "discrete") return;
    const actions = Array.from({ length: actionSpace.n }, (_, i) => i);
    return Uint8Array.from(
      Array.from(observations)
        .flatMap((it) => actions.map((action) => +allows(it, action))),
    );
  }

  reset(): Int32Array {
    this.#time = 0;
    return this.observations();
  }

  observations(): Int32Array {
    return this.#observe(this.#time);
  }

  step(actions: unknown) {
    const chosen = actions as Float32Array | Int32Array;
    const size = chosen.length / this.numEnvs;
    const seen = this.observations();
    seen.forEach((it, row) => {
      if (this.task.allows?.(it, chosen[row]) === false) {
        throw new Error(`observation ${it} forbids action ${chosen[row]}`);
      }
    });
    const rewards = Float64Array.from(
      { length: this.numEnvs },
      (_, row) =>
        this.task.reward(
          seen[row],
          chosen.subarray(row * size, (row + 1) * size),
          { time: this.#time, row },
        ),
    );
    this.#time++;
    const last = this.#time === this.task.length;
    const flags = (kind: string) =>
      new Uint8Array(this.numEnvs).fill(+(last && this.task.ends === kind));
    const finalObservations = this.#observe(
      Math.min(this.#time, this.task.length),
    );
    if (last) this.#time = 0;
    return {
      actionMasks: this.actionMasks,
      finalActionMasks: this.#masksOf(finalObservations),
      observations: this.observations(),
      finalObservations,
      rewards,
      terminated: flags("terminated"),
      truncated: flags("truncated"),
    };
  }

  save(): number {
    return this.#time;
  }

  load(state: unknown): void {
    this.#time = state as number;
  }

  close(): void {}
}

/** Actor, as {@link evaluated} needs it. */
interface Actor {
  act(observations: Int32Array, actionMasks?: Uint8Array): unknown;
  observe(step: ReturnType<ToyVecEnv["step"]>): void;
}

/** An agent that was trained, and where it was. */
interface Trained {
  agent: { policy(options: { deterministic: boolean }): Actor; close(): void };
  env: ToyVecEnv;
}

/** Closes an agent and returns its mean reward over 16 deterministic steps of all rows. */
export function evaluated({ agent, env }: Trained): number {
  const actor = agent.policy({ deterministic: true }), steps = 16;
  let observations = env.reset();
  let sum = 0;
  for (let i = 0; i < steps; i++) {
    const step = env.step(actor.act(observations, env.actionMasks));
    actor.observe(step);
    observations = step.observations;
    sum += step.rewards.reduce((a, b) => a + b, 0);
  }
  agent.close();
  return sum / (steps * env.numEnvs);
}

/** Trains an agent for so many updates. */
export async function learnOn<A extends Trainable>(
  agent: A,
  env: ToyVecEnv,
  updates: number,
): Promise<A> {
  let observations = env.reset();
  for (let done = 0; done < updates;) {
    const step = env.step(await agent.act(observations, env.actionMasks));
    agent.observe(step);
    observations = step.observations;
    if (await agent.update() !== undefined) done++;
  }
  return agent;
}

/** Say what was seen: the observations go through all values by turns. */
const IDENTITY = {
  length: 8,
  ends: "terminated",
  observation: (time: number, row: number) => (time + row) % 4,
  observationSpace: { type: "discrete", n: 4 },
} as const;

/** A reward where all parts of an action are right, which none is alone. */
const allRight =
  (...parts: ((seen: number) => number)[]): ToyTask["reward"] =>
  (seen, action) => +parts.every((part, i) => action[i] === part(seen));

/** Tasks of saying what was seen, by the kind of actions. */
export const IDENTITIES = {
  discrete: {
    ...IDENTITY,
    actionSpace: { type: "discrete", n: 4 },
    reward: allRight((seen) => seen),
  },
  multiDiscrete: {
    ...IDENTITY,
    actionSpace: { type: "multiDiscrete", nvec: [2, 2, 3] },
    reward: allRight(
      (seen) => seen & 1,
      (seen) => seen >> 1,
      (seen) => seen % 3,
    ),
  },
  multiBinary: {
    ...IDENTITY,
    actionSpace: { type: "multiBinary", n: 2 },
    reward: allRight((seen) => seen & 1, (seen) => seen >> 1),
  },
  box: {
    ...IDENTITY,
    actionSpace: {
      type: "box",
      shape: [1],
      low: -2,
      high: 2,
      dtype: "float32",
    },
    reward: (seen, action) => 1 - Math.abs(action[0] - (seen - 1.5)),
  },
} satisfies Record<string, ToyTask>;

/** Kinds of actions that {@link IDENTITIES} has. */
export type IdentityKind = keyof typeof IDENTITIES;

/** Asserts that an agent has learned to say what it sees, and closes it. */
export function assertIdentity(kind: IdentityKind, learned: Trained): void {
  const reward = evaluated(learned);
  assert(reward > (kind === "box" ? 0.8 : 0.99), `mean reward ${reward}`);
}

/** States of the chains. */
export const CHAIN_LENGTH = 3;

/** Chain with a reward of 1 in each step, which ends or is cut after its last state. */
export function chainOf(ends: ToyTask["ends"]): ToyTask {
  return {
    observationSpace: { type: "discrete", n: CHAIN_LENGTH },
    actionSpace: { type: "discrete", n: 1 },
    length: CHAIN_LENGTH,
    ends,
    observation: (time) => time % CHAIN_LENGTH,
    reward: () => 1,
  };
}

/** Each row has a cue, shown in the first step and asked for in the third. */
export const CUES: ToyTask = {
  observationSpace: { type: "discrete", n: 3 },
  actionSpace: { type: "discrete", n: 2 },
  length: 3,
  ends: "terminated",
  observation: (time, row) => time % 3 === 0 ? row % 2 : 2,
  reward: (_, action, { time, row }) => +(time === 2 && action[0] === row % 2),
};
