import type { BoxSpace, Space } from "@bellman/types";
import type { GameReset, GameStep, GameValue, GameWorld } from "../mod.ts";

/** Options of a {@linkcode Counter}. */
export interface CounterOptions {
  kind?: "box" | "bytes" | "dict";
  actions?: "discrete" | "box" | "multi";
  agents?: number;
  masks?: boolean;
  /** False for one that cannot save. */
  saves?: boolean;
  /** Milliseconds that a step takes. */
  ms?: number;
  /** What goes wrong when `x` comes to 2. */
  fault?: "throw" | "loop" | "nan";
}

const BYTES = { type: "box", shape: [3], low: 0, high: 255, dtype: "uint8" };

const SEEN: Record<string, Space> = {
  box: {
    ...{ type: "box", shape: [2], low: -Infinity, high: Infinity },
    dtype: "float32",
  },
  bytes: BYTES as BoxSpace,
  dict: {
    type: "dict",
    spaces: {
      at: { type: "box", shape: [1], low: -9, high: 9, dtype: "float64" },
      seen: BYTES as BoxSpace,
      mode: { type: "discrete", n: 4 },
    },
  },
};

const ACTED: Record<string, Space> = {
  discrete: { type: "discrete", n: 3 },
  box: { type: "box", shape: [1], low: -1, high: 1, dtype: "float32" },
  multi: { type: "multiDiscrete", nvec: [3, 2] },
};

/** The world that the fixture of the protocol describes. */
export class Counter implements GameWorld {
  readonly observationSpace: Space;
  readonly actionSpace: Space;
  readonly spec = { id: "Counter-v0" };
  readonly framesPerSecond = 30;
  readonly agents?: number;
  readonly save?: () => unknown;
  readonly actionMasks?: () => number[] | number[][];
  readonly #options: CounterOptions;
  #x = 0;
  #t = 0;

  constructor(options: CounterOptions = {}) {
    const { kind = "box", actions = "discrete", agents, masks } = options;
    const { saves = true } = options;
    this.#options = { kind, actions, ...options };
    this.observationSpace = SEEN[kind];
    this.actionSpace = ACTED[actions];
    if (agents) this.agents = agents;
    if (masks) {
      this.actionMasks = () =>
        this.#each([Number(this.#x > -2), 1, Number(this.#x < 2)]);
    }
    if (!saves) return;
    this.save = () => ({
      ...{ x: this.#x, t: this.#t },
      halves: Float64Array.of(this.#x / 2),
      name: "inf",
    });
  }

  load(
    { halves, t, name }: { halves: Float64Array; t: number; name: string },
  ): void {
    if (name !== "inf") throw new TypeError(`its name is ${name}`);
    this.#x = 2 * halves[0];
    this.#t = t;
  }

  reset({ seed = 1, parameters }: GameReset): GameValue {
    this.#x = seed % 3 - 1 + (parameters.shift ?? 0);
    this.#t = 0;
    return this.#seen();
  }

  step(action: GameValue): GameStep | Promise<GameStep> {
    const { ms = 0 } = this.#options, step = this.#step(action);
    if (ms === 0) return step;
    return new Promise((resolve) => setTimeout(() => resolve(step), ms));
  }

  #step(action: GameValue): GameStep {
    this.#x += this.#move(action);
    this.#t++;
    const { fault } = this.#options, isFaulty = this.#x === 2;
    if (this.#x === 9 || fault === "throw" && isFaulty) {
      throw new RangeError("no ball");
    }
    while (fault === "loop" && isFaulty);
    const terminated = Math.abs(this.#x) >= 3;
    const truncated = !terminated && this.#t >= 4;
    return {
      observation: this.#seen(),
      reward: fault === "nan" && isFaulty
        ? NaN
        : this.#each(this.#x / 2) as number | number[],
      terminated: this.#each(terminated) as boolean,
      truncated: this.#each(truncated) as boolean,
    };
  }

  /** Returns the value of one agent, or of each. */
  #each<T>(it: T): T | T[] {
    return this.agents ? Array.from({ length: this.agents }, () => it) : it;
  }

  #move(action: GameValue): number {
    const { actions } = this.#options;
    if (actions === "discrete" && !this.agents) return action as number - 1;
    const [one, other] = action as number[];
    if (this.agents) return one - other;
    if (actions === "box") return 2 * one;
    return one - 1 + other;
  }

  #seen(): GameValue {
    if (!this.agents) return this.#seenAs(this.#x);
    return Array.from(
      { length: this.agents },
      (_, i) => this.#seenAs(i === 0 ? this.#x : -this.#x),
    );
  }

  #seenAs(x: number): GameValue {
    const { kind } = this.#options;
    if (kind === "box") return [x / 8, this.#t];
    const seen = [x & 255, this.#t, 7];
    return kind === "bytes" ? seen : { at: [x / 2], seen, mode: this.#t % 4 };
  }
}
