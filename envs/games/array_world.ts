import type {
  Batch,
  BoxArray,
  BoxSpace,
  DiscreteSpace,
  EnvSpec,
  RandomSource,
  RenderOptions,
  RgbImage,
  RoleSpaces,
  Seat,
  StateTree,
  World,
  WorldStep,
} from "@bellman/types";
import { OBJECT, type OptionKinds, whole } from "@bellman/files/options";
import { checkIndex, checkSavedEnvs } from "../_checks.ts";
import { savedArray, snapshotRecord } from "../snapshot.ts";
import { allocateArray, elementCount } from "../spaces/arrays.ts";
import { contains, describeSpace } from "../spaces/values.ts";

/** Settings of the games. */
export interface GameOptions {
  /**
   * Number of worlds.
   *
   * @default 1
   */
  numEnvs?: number;
  /** Facts about the game, if it is made by name. */
  spec?: EnvSpec;
}

/** Settings of the games that a number of steps may cut off. */
export interface TimedGameOptions extends GameOptions {
  /**
   * Steps after which a game is truncated.
   *
   * @default each game has its own
   */
  maxEpisodeSteps?: number;
}

/** Kinds of the settings of every game. */
export const GAME: OptionKinds<GameOptions> = {
  numEnvs: whole(1),
  spec: OBJECT,
};

/** Kinds of the settings of the games that a number of steps may cut off. */
export const TIMED_GAME: OptionKinds<TimedGameOptions> = {
  ...GAME,
  maxEpisodeSteps: whole(1),
};

/** Moves a number into the bounds. */
export function clamp(value: number, limit: number): number {
  return Math.min(Math.max(value, -limit), limit);
}

/** Facts about each world of a game. */
export interface GameFacts {
  /** Name in error messages. */
  readonly name: string;
  /** Seats of each world, all of one role. */
  readonly seats: readonly Seat[];
  /** Space of one seat's observations. */
  readonly observationSpace: BoxSpace;
  /** Space of one seat's actions. */
  readonly actionSpace: DiscreteSpace;
}

/**
 * Many worlds in the rows of shared arrays, without anything allocated in a step.
 * Subclasses keep the states and move them; seats to act, time limits, ends of games
 * and saved states are kept here. A world that has not begun is over.
 *
 * @typeParam O Observations of one seat in all worlds.
 *
 * @example
 * ```ts
 * import { ArrayWorld, ConnectFour } from "@bellman/envs/games";
 * import { assert } from "@std/assert";
 *
 * assert(new ConnectFour({ numEnvs: 2 }) instanceof ArrayWorld);
 * ```
 */
export abstract class ArrayWorld<O extends BoxArray = BoxArray>
  implements World<O, Int32Array> {
  /** Number of worlds. */
  readonly numEnvs: number;
  /** Seats of each world. */
  readonly seats: readonly Seat[];
  /** Spaces of the one role, `player`. */
  readonly roles: { readonly player: RoleSpaces };
  /** Facts about the game, if it was made by name. */
  readonly spec?: EnvSpec;
  /** Steps after which a game is truncated. */
  readonly maxEpisodeSteps: number;
  /** 1 where a seat acts in the next step, `[numEnvs, seats]`. */
  readonly toAct: Uint8Array;
  /** Steps that each world's game has taken `[numEnvs]`. */
  protected readonly steps: Int32Array;
  /** Result of the latest step. */
  protected readonly result: WorldStep;
  /** Name in error messages. */
  protected readonly name: string;
  #observations: O[];
  #actions: DiscreteSpace;

  /**
   * Allocates the arrays of steps and observations.
   *
   * @param facts Facts about each world.
   * @param options Number of worlds and longest game, which are not checked.
   */
  constructor(facts: GameFacts, options: TimedGameOptions) {
    const { numEnvs = 1, maxEpisodeSteps = Infinity, spec } = options;
    const { name, seats, observationSpace, actionSpace } = facts;
    this.name = name;
    this.numEnvs = numEnvs;
    this.seats = seats;
    this.roles = { player: { observationSpace, actionSpace } };
    this.spec = spec;
    this.maxEpisodeSteps = maxEpisodeSteps;
    this.toAct = new Uint8Array(numEnvs * seats.length);
    this.steps = new Int32Array(numEnvs);
    this.result = {
      rewards: new Float64Array(this.toAct.length),
      terminated: new Uint8Array(this.toAct.length),
      truncated: new Uint8Array(this.toAct.length),
    };
    const size = numEnvs * elementCount(observationSpace);
    this.#observations = seats.map(() =>
      allocateArray(observationSpace, size) as O
    );
    this.#actions = actionSpace;
  }

  /**
   * Sets up a world's game and the seats to act.
   *
   * @param env Index of the world.
   * @param random Its random stream; what is drawn later would not be in the saved
   * state.
   */
  protected abstract beginGame(env: number, random: RandomSource): void;

  /**
   * Steps a world whose game is running, by actions that have been checked: sets
   * rewards, and calls `end` for the seats whose game ends.
   *
   * @param env Index of the world.
   * @param actions Actions of each seat.
   */
  protected abstract stepGame(
    env: number,
    actions: readonly Int32Array[],
  ): void;

  /**
   * Writes what a seat sees in all worlds.
   *
   * @param seat Index of the seat.
   * @param observations Array to write into.
   */
  protected abstract write(seat: number, observations: O): void;

  /** Names the arrays of the state. */
  protected abstract state(): Readonly<Record<string, BoxArray>>;

  /**
   * Renders a world's current state.
   *
   * @param env Index of the world.
   * @param options Size.
   * @returns The picture.
   * @throws {RangeError} If there is no such world.
   */
  abstract render(env: number, options?: RenderOptions): RgbImage;

  /** Ends the game of a seat, at its place in the arrays of a step. */
  protected end(at: number, reward: number): void {
    this.result.rewards[at] = reward;
    this.result.terminated[at] = 1;
    this.toAct[at] = 0;
  }

  /** Throws unless there is such a world, or such a seat. */
  protected checkIndex(what: "world" | "seat", index: number): void {
    const count = what === "world" ? this.numEnvs : this.seats.length;
    checkIndex(this.name, what, { index, count });
  }

  /**
   * Starts a game in a world.
   *
   * @param env Index of the world.
   * @param random Stream of the world, from which it draws now only.
   * @throws {RangeError} If there is no such world.
   */
  begin(env: number, random: RandomSource): void {
    this.checkIndex("world", env);
    this.steps[env] = 0;
    const seats = this.seats.length;
    this.toAct.fill(0, env * seats, (env + 1) * seats);
    this.beginGame(env, random);
  }

  /**
   * Steps some worlds.
   *
   * @param actions Actions of each seat, by its index `[numEnvs]`; those of seats that
   * are not to act are ignored.
   * @param which 1 for the worlds to step, `[numEnvs]`.
   * @returns Rewards and ends; the same object and arrays each time.
   * @throws {RangeError} If there are too few or too many, or an action is not of the
   * action space; no world is stepped then.
   * @throws {Error} If a world's game is over.
   */
  step(actions: readonly Int32Array[], which: Uint8Array): WorldStep {
    const { rewards, terminated, truncated } = this.result;
    this.#check(actions, which);
    rewards.fill(0);
    terminated.fill(0);
    truncated.fill(0);
    const { steps, toAct, maxEpisodeSteps } = this, seats = this.seats.length;
    for (let env = 0; env < this.numEnvs; env++) {
      if (which[env] === 0) continue;
      this.stepGame(env, actions);
      if (++steps[env] < maxEpisodeSteps) continue;
      for (let at = env * seats; at < (env + 1) * seats; at++) {
        truncated[at] |= toAct[at];
        toAct[at] = 0;
      }
    }
    return this.result;
  }

  #check(actions: readonly Int32Array[], which: Uint8Array): void {
    const { numEnvs, toAct, seats } = this;
    const check = (length: number | undefined, what: string) => {
      if (length === numEnvs) return;
      this.#refuse(`${length ?? "no"} ${what}`, `${numEnvs}`);
    };
    check(which?.length, "entries of which");
    seats.forEach(({ name }, seat) =>
      check(actions?.[seat]?.length, `actions of seat ${name}`)
    );
    for (let env = 0; env < numEnvs; env++) {
      if (which[env] === 0) continue;
      let acting = 0;
      for (let seat = 0; seat < seats.length; seat++) {
        if (toAct[env * seats.length + seat] === 0) continue;
        acting++;
        const action = actions[seat][env];
        if (contains(this.#actions, action)) continue;
        this.#refuse(
          `action ${action} of seat ${seats[seat].name} in world ${env}`,
          describeSpace(this.#actions),
        );
      }
      if (acting > 0) continue;
      throw new Error(
        `Cannot step world ${env} of ${this.name} as its game is over: call begin first`,
      );
    }
  }

  #refuse(got: string, wanted: string): never {
    throw new RangeError(
      `Cannot step ${this.name} with ${got}: expected ${wanted}`,
    );
  }

  /**
   * Returns what a seat sees in all worlds.
   *
   * @param seat Index of the seat.
   * @returns Observations, reused by the next call for the seat.
   * @throws {RangeError} If there is no such seat.
   */
  observe(seat: number): O {
    this.checkIndex("seat", seat);
    const observations = this.#observations[seat];
    this.write(seat, observations);
    return observations;
  }

  #state(): Record<string, BoxArray> {
    return { toAct: this.toAct, steps: this.steps, ...this.state() };
  }

  /**
   * Saves all worlds.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    const entries = Object.entries(this.#state());
    return Object.fromEntries(entries.map(([it, own]) => [it, own.slice()]));
  }

  /**
   * Restores what `save` returned.
   *
   * @param state Saved state.
   * @throws {TypeError} If it is no saved state of such worlds.
   * @throws {RangeError} If it is of another number of worlds. Nothing is changed then.
   */
  load(state: StateTree): void {
    const own = Object.entries(this.#state());
    const saved = snapshotRecord(state, own.map(([name]) => name));
    checkSavedEnvs(this.numEnvs, (saved.steps as Batch[] | null)?.length ?? 0);
    const read = own.map(([name, like]) =>
      savedArray(this.name, [name, saved[name]], like)
    );
    own.forEach(([, array], i) => array.set(read[i]));
  }

  /** Frees nothing here, as there is nothing to free. */
  close(): void {}
}
