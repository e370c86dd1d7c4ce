import { discrete } from "@bellman/envs";
import type {
  RandomSource,
  RgbImage,
  RoleSpaces,
  StateTree,
  World,
  WorldStep,
} from "@bellman/types";

/** Settings of {@linkcode RockPaperScissors}. */
export interface RockPaperScissorsOptions {
  numEnvs?: number;
  numActions?: number;
  maxCycles?: number;
  /** True where the second seat acts after the first, whose action it does not see. */
  byTurns?: boolean;
}

/**
 * PettingZoo's rps: of two actions that differ by an even number the smaller wins, else
 * the larger. A seat sees the other's action of the last cycle, at first `numActions`.
 * It is truncated after `maxCycles`, and never terminated.
 */
export class RockPaperScissors implements World<Int32Array, Int32Array> {
  readonly numEnvs: number;
  readonly seats = [{ name: "player_0" }, { name: "player_1" }];
  readonly roles: { readonly player: RoleSpaces };
  readonly toAct: Uint8Array;
  readonly #options: Required<RockPaperScissorsOptions>;
  readonly #cycles: Int32Array;
  /** Actions of the last cycle, and of this one so far. */
  readonly #shown: Int32Array;
  readonly #chosen: Int32Array;
  readonly #result: WorldStep;

  constructor(options: RockPaperScissorsOptions = {}) {
    const defaults = { numEnvs: 1, numActions: 3, maxCycles: 15 };
    this.#options = { ...defaults, byTurns: false, ...options };
    const { numEnvs, numActions } = this.#options, size = 2 * numEnvs;
    this.numEnvs = numEnvs;
    const observationSpace = discrete(numActions + 1);
    const actionSpace = discrete(numActions);
    this.roles = { player: { observationSpace, actionSpace } };
    this.toAct = new Uint8Array(size);
    this.#cycles = new Int32Array(numEnvs);
    this.#shown = new Int32Array(size).fill(numActions);
    this.#chosen = new Int32Array(size);
    this.#result = {
      rewards: new Float64Array(size),
      terminated: new Uint8Array(size),
      truncated: new Uint8Array(size),
    };
  }

  begin(env: number, _random: RandomSource): void {
    const { byTurns, numActions } = this.#options;
    this.#cycles[env] = 0;
    this.#shown.fill(numActions, 2 * env, 2 * env + 2);
    this.#chosen.fill(0, 2 * env, 2 * env + 2);
    this.toAct.set(byTurns ? [1, 0] : [1, 1], 2 * env);
  }

  step(actions: readonly Int32Array[], which: Uint8Array): WorldStep {
    const { rewards, truncated } = this.#result, { toAct } = this;
    rewards.fill(0);
    truncated.fill(0);
    for (let env = 0; env < this.numEnvs; env++) {
      if (which[env] === 0) continue;
      for (const seat of [0, 1]) {
        const at = 2 * env + seat;
        if (toAct[at] === 1) this.#chosen[at] = actions[seat][env];
      }
      if (toAct[2 * env + 1] === 0) toAct.set([0, 1], 2 * env);
      else this.#judge(env);
    }
    return this.#result;
  }

  #judge(env: number): void {
    const { byTurns, maxCycles } = this.#options, at = 2 * env;
    const [first, second] = this.#chosen.subarray(at);
    const larger = (first - second) % 2 === 0 ? -1 : 1;
    const result = larger * Math.sign(first - second) + 0;
    this.#result.rewards.set([result, -result + 0], at);
    this.#shown.set([first, second], at);
    const isOver = ++this.#cycles[env] >= maxCycles;
    if (isOver) this.#result.truncated.fill(1, at, at + 2);
    this.toAct.set(isOver ? [0, 0] : byTurns ? [1, 0] : [1, 1], at);
  }

  observe(seat: number): Int32Array {
    return this.#shown.filter((_, at) => at % 2 !== seat);
  }

  #arrays(): (Int32Array | Uint8Array)[] {
    return [this.toAct, this.#cycles, this.#shown, this.#chosen];
  }

  save(): StateTree {
    return this.#arrays().map((it) => it.slice());
  }

  load(state: StateTree): void {
    this.#arrays().forEach((it, i) => it.set((state as Int32Array[])[i]));
  }

  render(): RgbImage {
    return { width: 1, height: 1, data: new Uint8Array(3) };
  }

  close(): void {}
}
