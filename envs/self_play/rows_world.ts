import type {
  Batch,
  EnvSpec,
  RandomSource,
  RgbImage,
  RoleSpaces,
  Seat,
  StateTree,
  VecEnv,
  World,
  WorldStep,
} from "@bellman/types";
import { countChoices } from "../_action_masks.ts";
import { allocateBatch, copyRow } from "../spaces/batch.ts";

/** Most that a seed of an episode is. */
const SEEDS = 2 ** 31;

/**
 * Worlds whose seats are rows of a vector environment, side by side: agents that act at
 * the same time and whose episodes end together, such as those of a game in a page, play
 * against each other. All worlds step at once, so games have no random openings.
 *
 * @example
 * ```ts
 * import { makeVec } from "@bellman/envs";
 * import { RowsWorld, SelfPlayVecEnv } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * // A game would have rows that meet: here two poles are balanced in each world.
 * const rows = makeVec("CartPole-v1", { numEnvs: 8 });
 * const env = new SelfPlayVecEnv(new RowsWorld(rows, { seats: 2 }));
 * assertEquals(env.numEnvs, 4);
 * ```
 */
export class RowsWorld implements World {
  /** Number of worlds. */
  readonly numEnvs: number;
  /** Seats of each world, by their number. */
  readonly seats: readonly Seat[];
  /** Spaces of the only role. */
  readonly roles: Readonly<Record<string, RoleSpaces>>;
  /** Metadata of the environment. */
  readonly spec?: EnvSpec;
  /** 1 where a seat acts: all of a game that is not over. */
  readonly toAct: Uint8Array;
  /** Masks of a seat's actions, if they are masked. */
  readonly actionMasks?: (seat: number) => Uint8Array;
  /** The vector environment. */
  readonly env: VecEnv;
  readonly #actions: Batch;
  /** What each seat sees. */
  readonly #seen: readonly Batch[];
  /** Seeds of the worlds that are to begin with the others. */
  #seeds: number[] = [];
  #step?: ReturnType<VecEnv["step"]>;

  /**
   * Takes rows as seats: row `world * seats + seat`.
   *
   * @param env Vector environment.
   * @param options Number of seats of a world.
   * @throws {RangeError} If the rows are not those of whole worlds.
   */
  constructor(env: VecEnv, { seats }: { readonly seats: number }) {
    const numEnvs = env.numEnvs / seats;
    if (!(seats >= 2 && Number.isInteger(numEnvs))) {
      throw new RangeError(
        `Cannot make worlds of ${seats} seats from ${env.numEnvs} rows: expected at least 2, a divisor of the rows`,
      );
    }
    const { observationSpace, actionSpace, spec } = env;
    this.env = env;
    this.numEnvs = numEnvs;
    this.spec = spec;
    this.seats = Array.from({ length: seats }, (_, i) => ({ name: `${i}` }));
    this.roles = { player: { observationSpace, actionSpace } };
    this.toAct = new Uint8Array(env.numEnvs);
    this.#actions = allocateBatch(actionSpace, env.numEnvs);
    this.#seen = this.seats.map(() => allocateBatch(observationSpace, numEnvs));
    if (!env.actionMasks) return;
    const choices = countChoices(actionSpace, spec?.id);
    this.actionMasks = (seat) => this.#masks(seat, choices);
  }

  /** Begins a game: after its end it has begun, else all begin when the last one does. */
  begin(env: number, random: RandomSource): void {
    const seats = this.seats.length, from = env * seats;
    this.toAct.fill(1, from, from + seats);
    if (this.#isOver(env)) {
      this.#step!.terminated.fill(0, from, from + seats);
      this.#step!.truncated.fill(0, from, from + seats);
      return;
    }
    const seeds = this.#seeds;
    seeds.push(random.integer(SEEDS));
    if (seeds.length < this.numEnvs) return;
    this.#seeds = [];
    this.env.reset({ seed: seeds.flatMap((it) => this.seats.map(() => it)) });
    this.#step = undefined;
  }

  #isOver(env: number): boolean {
    const row = env * this.seats.length, step = this.#step;
    return step !== undefined && step.terminated[row] + step.truncated[row] > 0;
  }

  /** Steps all worlds. */
  step(actions: readonly Batch[], which: Uint8Array): WorldStep {
    const seats = this.seats.length, space = this.env.actionSpace;
    if (which.includes(0)) {
      throw new RangeError(
        "Cannot step some of the worlds, as their seats are rows of one environment: expected no random openings",
      );
    }
    for (let env = 0; env < this.numEnvs; env++) {
      actions.forEach((batch, seat) => {
        const to = { batch: this.#actions, row: env * seats + seat };
        copyRow(space, { batch, row: env }, to);
      });
    }
    const step = this.#step = this.env.step(this.#actions);
    const { rewards, terminated, truncated } = step;
    for (let row = 0; row < this.toAct.length; row++) {
      const isOver = terminated[row] + truncated[row] > 0;
      this.toAct[row] = isOver ? 0 : 1;
      if (isOver === this.#isOver(Math.floor(row / seats))) continue;
      throw new Error(
        `Cannot go on in world ${
          Math.floor(row / seats)
        }: some of its seats have ended, expected all of them to end together`,
      );
    }
    return {
      rewards: Float64Array.from(rewards),
      terminated: terminated.slice(),
      truncated: truncated.slice(),
    };
  }

  /** Returns what a seat sees: the last observation where the game is over. */
  observe(seat: number): Batch {
    const { observationSpace: space } = this.env, batch = this.#seen[seat];
    for (let env = 0; env < this.numEnvs; env++) {
      const from = this.#isOver(env)
        ? this.#step!.finalObservations
        : this.env.observations();
      const row = env * this.seats.length + seat;
      copyRow(space, { batch: from, row }, { batch, row: env });
    }
    return batch;
  }

  #masks(seat: number, choices: number): Uint8Array {
    const masks = new Uint8Array(this.numEnvs * choices);
    for (let env = 0; env < this.numEnvs; env++) {
      const from = choices * (env * this.seats.length + seat);
      const given = this.#isOver(env)
        ? this.#step!.finalActionMasks!
        : this.env.actionMasks!;
      masks.set(given.subarray(from, from + choices), env * choices);
    }
    return masks;
  }

  /** Saves the environment. */
  save(): StateTree {
    return this.env.save();
  }

  /** Restores a state. */
  load(state: StateTree): void {
    this.env.load(state);
    this.#step = undefined;
    this.toAct.fill(1);
  }

  /**
   * Throws, as rows are not drawn.
   *
   * @throws {TypeError} Always.
   */
  render(): RgbImage {
    throw new TypeError(
      "Cannot draw a game whose seats are rows of an environment",
    );
  }

  /** Frees the environment. */
  close(): void {
    this.env.close();
  }
}
