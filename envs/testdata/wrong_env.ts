/** An environment that returns wrong data, one kind of it at a time. */
import type {
  Env,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { defaultRegistry, register } from "../registry/registry.ts";
import { box, discrete } from "../spaces/constructors.ts";

type Wrong = Record<string, unknown>;

/** Says that an episode has ended, with something wrong about it. */
function toldOf(wrong: Wrong): Wrong {
  const episode = { return: 1, length: 2, terminated: true, ...wrong };
  return { info: { episodes: [episode] } };
}

/** Replaces parts of the fifth step; `time` is that of the episode. */
const STEPS: Record<string, () => Wrong | Promise<Wrong> | undefined> = {
  rewardNaN: () => ({ reward: NaN }),
  rewardInfinite: () => ({ reward: -Infinity }),
  rewardHuge: () => ({ reward: 1e308 }),
  rewardText: () => ({ reward: "1" }),
  rewardMissing: () => ({ reward: undefined }),
  rewardBigInt: () => ({ reward: 1n }),
  seenNaN: () => ({ observation: Float32Array.of(0, NaN, 0) }),
  seenInfinite: () => ({ observation: Float32Array.of(0, Infinity, 0) }),
  seenOutside: () => ({ observation: Float32Array.of(0, 1e6, 0) }),
  seenRounded: () => ({
    observation: Float32Array.of(0, 10.000001, -10.000001),
  }),
  seenShort: () => ({ observation: new Float32Array(2) }),
  seenLong: () => ({ observation: new Float32Array(5) }),
  seenMissing: () => ({ observation: undefined }),
  seenList: () => ({ observation: [1, 2, 3] }),
  seenDoubles: () => ({ observation: new Float64Array(3) }),
  seenIntegers: () => ({ observation: new Int32Array(3) }),
  seenRecord: () => ({ observation: { x: 1 } }),
  seenNumber: () => ({ observation: 3 }),
  endText: () => ({ terminated: "yes" }),
  endMissing: () => ({ terminated: undefined }),
  endNumber: () => ({ terminated: 1 }),
  cutText: () => ({ truncated: "no" }),
  endedNaN: () => toldOf({ return: NaN }),
  endedNegative: () => toldOf({ length: -5 }),
  endedText: () => toldOf({ terminated: "no" }),
  endedLives: () => toldOf({ lifeReturns: [1, undefined] }),
  endedNothing: () => ({ info: { episodes: [null] } }),
  asyncOnce: () => Promise.resolve({}),
  nothing: () => undefined,
};

/** Replaces the first observation. */
const RESETS: Record<string, () => unknown> = {
  resetNaN: () => Float32Array.of(NaN, 0, 0),
  resetMissing: () => undefined,
  resetShort: () => new Float32Array(2),
  resetOutside: () => Float32Array.of(11, 0, 0),
  resetAsync: () => Promise.resolve(new Float32Array(3)),
};

class Counter {
  count = 3;
}

class Stack extends Array<number> {}

class Vector extends Float32Array {}

/** Replaces the state. */
const SNAPSHOTS: Record<string, () => unknown> = {
  savesMap: () => ({ seen: new Map([[1, 2]]) }),
  savesSet: () => [new Set([1])],
  savesDate: () => new Date(0),
  savesClass: () => ({ own: new Counter() }),
  savesFunction: () => ({ draw: () => 1 }),
  savesNothing: () => undefined,
  savesHole: () => ({ best: undefined }),
  savesBigInt: () => ({ seed: 1n }),
  savesShorts: () => new Int16Array(2),
  savesGap: () => ({ times: [1, , 3] }),
  savesFilledGap: () => ({ times: Object.assign([1, , 3], { mean: 2 }) }),
  savesVector: () => [new Vector(2)],
  savesStack: () => new Stack(),
  savesPromise: () => Promise.resolve(1),
  savesItself: () => {
    const state: Wrong = {};
    return state.state = state;
  },
};

/** All kinds of wrong data. */
export const KINDS: readonly string[] = [
  ...Object.keys(STEPS),
  ...Object.keys(RESETS),
  ...Object.keys(SNAPSHOTS),
  "asyncAlways",
  "spaceMissing",
  "spaceHollow",
];

/** Options of a {@linkcode WrongEnv}. */
export interface WrongEnvOptions {
  /** Kind of wrong data; any other word for none. */
  kind?: string;
  /** Actions are numbers of [-1, 1] instead of 0 and 1. */
  cont?: boolean;
  /** Steps of all episodes before the wrong data. */
  after?: number;
}

/** Episodes of 20 steps; the fifth returns what `kind` says. */
export class WrongEnv implements Env {
  readonly observationSpace: Space;
  readonly actionSpace: Space;
  #kind: string;
  #after: number;
  #time = 0;
  #total = 0;
  /** The same array in each step, as the kind `seenAgain` returns it. */
  #array = new Float32Array(3);

  constructor({ kind = "none", cont = false, after = 0 }: WrongEnvOptions) {
    this.#kind = kind;
    this.#after = after;
    this.observationSpace = box({ low: -10, high: 10, shape: [3] });
    if (kind === "spaceMissing") this.observationSpace = undefined as never;
    if (kind === "spaceHollow") {
      this.observationSpace = { type: "box" } as never;
    }
    this.actionSpace = cont
      ? box({ low: -1, high: 1, shape: [1] })
      : discrete(2);
  }

  reset(): SpaceValue {
    this.#time = 0;
    if (this.#kind === "resetThrows") throw new Error("no luck");
    const wrong = RESETS[this.#kind];
    return wrong ? wrong() as SpaceValue : this.#seen();
  }

  step(action: SpaceValue): StepResult {
    this.#time++;
    this.#total++;
    if (this.#kind === "actionChanged" && action instanceof Float32Array) {
      action.fill(99);
    }
    const right = {
      observation: this.#seen(),
      reward: 1,
      terminated: this.#time >= 20,
      truncated: false,
    };
    if (this.#kind === "asyncAlways") return Promise.resolve(right) as never;
    const wrong = STEPS[this.#kind];
    if (!wrong || this.#time !== 5 || this.#total < this.#after) return right;
    const parts = wrong();
    if (parts instanceof Promise) return parts as never;
    return (parts && { ...right, ...parts }) as StepResult;
  }

  #seen(): Float32Array {
    const array = this.#kind === "seenAgain"
      ? this.#array
      : new Float32Array(3);
    return array.fill(0.1 * (this.#time % 7));
  }

  save(): StateTree {
    if (this.#kind === "saveThrows") throw new Error("no luck");
    const wrong = SNAPSHOTS[this.#kind];
    if (wrong) return wrong() as StateTree;
    return { time: this.#time, total: this.#total };
  }

  load(snapshot: StateTree): void {
    const { time, total } = snapshot as Record<string, number>;
    this.#time = time;
    this.#total = total;
  }

  render(): RgbImage {
    return { width: 1, height: 1, data: new Uint8Array(3) };
  }

  close(): void {}
}

/** Name under which this module registers it. */
export const WRONG_ENV = "Wrong-v0";

if (!defaultRegistry.has(WRONG_ENV)) {
  register({ id: WRONG_ENV, make: (kwargs) => new WrongEnv(kwargs) });
}
