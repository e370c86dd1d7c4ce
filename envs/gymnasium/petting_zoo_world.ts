import type {
  Batch,
  DictSpace,
  EnvSpec,
  RandomSource,
  RenderOptions,
  RgbImage,
  RoleSpaces,
  Seat,
  Space,
  StateTree,
  TupleSpace,
  World,
  WorldStep,
} from "@bellman/types";
import { checkIndex, checkNumEnvs, checkStepLimit } from "../_checks.ts";
import { defaultRegistry, type RegistryOptions } from "../registry/registry.ts";
import { spacesOf } from "../self_play/_seats.ts";
import { gameMakers, type WorldOptions } from "../self_play/make_game.ts";
import { savedArray, snapshotRecord } from "../snapshot.ts";
import {
  checkAction,
  checkActionCount,
  checkBatch,
} from "../spaces/_action_rows.ts";
import { allocateBatch, copyBatch, readRow } from "../spaces/batch.ts";
import { spacesEqual } from "../spaces/values.ts";
import { SEEDS, UNTOUCHED } from "./_gymnasium_hosts.ts";
import { PythonHost } from "./_python_host.ts";
import type { GymnasiumOptions } from "./python.ts";

/** Settings of {@linkcode registerPettingZoo}. */
export interface RegisterPettingZooOptions
  extends
    RegistryOptions,
    Omit<GymnasiumOptions, "wrappers" | "useActionMasks"> {}

/** Settings of a {@linkcode PettingZooWorld}. */
export interface PettingZooWorldOptions
  extends Omit<RegisterPettingZooOptions, "registry"> {
  /**
   * Number of worlds.
   *
   * @default 1
   */
  numEnvs?: number;
  /**
   * Steps after which a game is truncated; `Infinity` for no limit but the game's own.
   *
   * @default Infinity
   */
  maxEpisodeSteps?: number;
}

/** Actions of all seats, and 1 for the worlds to step. */
interface Given {
  readonly moves: Uint8Array;
  readonly seats: readonly Batch[];
}

/** Numbers of all seats, as the host tells them. */
interface Told {
  readonly acts: Uint8Array;
  /** Terminated, then truncated ones of each world. */
  readonly ends: Uint8Array;
  readonly rewards: Float64Array;
  readonly seen: readonly Batch[];
  readonly masks?: readonly Uint8Array[];
}

/** Spaces of the seats, in their order. */
function spacesIn({ spaces }: DictSpace, key: string): readonly Space[] {
  return (spaces[key] as TupleSpace).spaces;
}

/**
 * Games of Python's PettingZoo in one Python process: those by turns (AEC) and those in
 * which all agents act at once, which are taken where a game has both forms. Agents are
 * the seats. Where all have the same spaces, their role is `player`; else the role is
 * the name without its number, or the whole name where spaces still differ. Agents whose
 * names differ in nothing but the number are a team if there are others.
 *
 * Masks are the `action_mask` of the observation, which is no part of it here, or of the
 * `info`. Rewards come at once, also of those who have moved. A saved state holds seed
 * and actions of the games, which `load` plays again: a game that comes out otherwise
 * is truncated by its next step. A process that dies or hangs is not replaced: the worlds
 * throw that from then on.
 *
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { hasPettingZoo, PettingZooWorld } from "@bellman/envs/gymnasium";
 * import { assertEquals } from "@std/assert";
 *
 * if (hasPettingZoo()) {
 *   const world = new PettingZooWorld("connect_four_v3");
 *   world.begin(0, new SeededRandom(0));
 *   world.step([Int32Array.of(3), Int32Array.of(0)], Uint8Array.of(1));
 *   assertEquals([...world.toAct], [0, 1]);
 *   world.close();
 * }
 * ```
 */
export class PettingZooWorld implements World {
  /** Number of worlds. */
  readonly numEnvs: number;
  /** Seats of each world: the game's `possible_agents`. */
  readonly seats: readonly Seat[];
  /** Spaces by role. */
  readonly roles: Readonly<Record<string, RoleSpaces>>;
  /** Name of the game. */
  readonly spec: EnvSpec;
  /** 1 where a seat acts in the next step, `[numEnvs, seats]`. */
  readonly toAct: Uint8Array;
  /**
   * Returns the action masks of a seat, where the game has some.
   *
   * @param seat Index of the seat.
   * @returns 1 or 0 for each choice `[numEnvs, choices]`, 0 for all where the seat is not
   * to act; reused by the next call for the seat.
   */
  readonly actionMasks?: (seat: number) => Uint8Array;

  #id: string;
  #host: PythonHost;
  #given: Given;
  #told: Told;
  #seen: readonly Batch[];
  #step: WorldStep;

  /**
   * Starts Python and waits until it has made the games.
   *
   * @param id Name of the game, such as `connect_four_v3` or `classic/connect_four_v3`,
   * or `module:name` of another Python module: a module in it, or what makes the game.
   * @param options Python, number of worlds, and the game's own options.
   * @throws {RangeError} If there is no such game, with the nearest name, or a number
   * among the options cannot be used.
   * @throws {TypeError} If Python lacks PettingZoo or a module, or a space has no
   * counterpart here.
   * @throws {Error} If Python or the game cannot be started.
   */
  constructor(id: string, options: PettingZooWorldOptions = {}) {
    const { numEnvs = 1, maxEpisodeSteps = Infinity, kwargs, ...python } =
      options;
    checkNumEnvs(id, numEnvs);
    checkStepLimit(maxEpisodeSteps);
    const isLimited = maxEpisodeSteps !== Infinity;
    this.#host = new PythonHost(id, {
      ...python,
      ...{ numEnvs, scheme: "pz", useActionMasks: false },
      kwargs: {
        ...kwargs,
        ...isLimited && { max_episode_steps: maxEpisodeSteps },
      },
    });
    const { opened, arrays } = this.#host;
    const observations = spacesIn(opened.observationSpace as DictSpace, "seen");
    const actions = spacesIn(opened.actionSpace as DictSpace, "seats");
    const names = opened.seats!;
    const spaces = names.map((_, i): RoleSpaces => ({
      observationSpace: observations[i],
      actionSpace: actions[i],
    }));
    this.#id = id;
    this.numEnvs = numEnvs;
    this.seats = seatsOf(names, spaces);
    this.roles = Object.fromEntries(
      this.seats.map(({ role }, i) => [role!, spaces[i]]),
    );
    this.spec = {
      ...opened.spec!,
      ...isLimited && { maxEpisodeSteps },
    };
    this.#given = arrays.actions as unknown as Given;
    this.#told = arrays.observations as unknown as Told;
    this.#seen = observations.map((it) => allocateBatch(it, numEnvs));
    this.toAct = new Uint8Array(numEnvs * names.length);
    this.#step = {
      rewards: new Float64Array(this.toAct.length),
      terminated: new Uint8Array(this.toAct.length),
      truncated: new Uint8Array(this.toAct.length),
    };
    if (this.#told.masks) this.actionMasks = this.#maskReader(this.#told.masks);
    // Worlds that have not begun are over, but seen.
    this.#reset(new Array(numEnvs).fill(0));
  }

  #maskReader(told: readonly Uint8Array[]): (seat: number) => Uint8Array {
    const own = told.map((it) => it.slice());
    return (seat) => {
      const masks = own[seat], size = masks.length / this.numEnvs;
      masks.set(told[seat]);
      for (let env = 0; env < this.numEnvs; env++) {
        const acts = this.toAct[env * this.seats.length + seat] === 1;
        if (!acts) masks.fill(0, env * size, (env + 1) * size);
      }
      return masks;
    };
  }

  #reset(seeds: readonly number[]): void {
    this.#host.ask("begin", { type: "reset", seeds });
  }

  /** Copies a world's part of an array that the host has told. */
  #copyPart(from: Uint8Array, to: Uint8Array, env: number, part = env): void {
    const seats = this.seats.length;
    to.set(from.subarray(part * seats, (part + 1) * seats), env * seats);
  }

  /**
   * Starts a game in a world.
   *
   * @param env Index of the world.
   * @param random Stream of the world, from which the game's seed is drawn.
   * @throws {RangeError} If there is no such world.
   * @throws {Error} If Python throws.
   */
  begin(env: number, random: RandomSource): void {
    checkIndex(this.#id, "world", { index: env, count: this.numEnvs });
    const seeds = new Array(this.numEnvs).fill(UNTOUCHED);
    seeds[env] = random.integer(SEEDS);
    this.#reset(seeds);
    this.#copyPart(this.#told.acts, this.toAct, env);
  }

  /**
   * Steps some worlds.
   *
   * @param actions Actions of each seat, by its index; those of seats that are not to
   * act are ignored.
   * @param which 1 for the worlds to step, `[numEnvs]`.
   * @returns Rewards and ends; the same object and arrays each time.
   * @throws {RangeError} If there are too few or too many, or an action is not of the
   * action space; no world is stepped then.
   * @throws {Error} If a world's game is over, or Python throws.
   */
  step(actions: readonly Batch[], which: Uint8Array): WorldStep {
    const { numEnvs, toAct } = this, seats = this.seats.length;
    this.#check(actions, which);
    this.#given.moves.set(which);
    this.#given.seats.forEach((it, seat) => copyBatch(actions[seat], it));
    this.#host.ask("step", { type: "step" });
    const { acts, ends, rewards } = this.#told, step = this.#step;
    step.rewards.fill(0);
    step.terminated.fill(0);
    step.truncated.fill(0);
    for (let env = 0; env < numEnvs; env++) {
      if (which[env] === 0) continue;
      const from = env * seats, to = from + seats;
      if (this.#host.arrays.truncated[env] === 1) {
        // A game that could not be played again.
        this.#copyPart(toAct, step.truncated, env);
        toAct.fill(0, from, to);
        continue;
      }
      step.rewards.set(rewards.subarray(from, to), from);
      this.#copyPart(ends, step.terminated, env, 2 * env);
      this.#copyPart(ends, step.truncated, env, 2 * env + 1);
      this.#copyPart(acts, toAct, env);
    }
    return step;
  }

  #check(actions: readonly Batch[], which: Uint8Array): void {
    const { numEnvs, toAct } = this, seats = this.seats.length;
    checkActionCount(numEnvs, which, numEnvs);
    this.#given.seats.forEach((like, seat) => {
      const { actionSpace } = spacesOf(this, seat);
      checkBatch(actionSpace, actions?.[seat], like, numEnvs);
    });
    for (let env = 0; env < numEnvs; env++) {
      if (which[env] === 0) continue;
      if (!toAct.subarray(env * seats, (env + 1) * seats).includes(1)) {
        throw new Error(
          `Cannot step world ${env} of ${this.#id} as its game is over: call begin first`,
        );
      }
      for (let seat = 0; seat < seats; seat++) {
        if (toAct[env * seats + seat] === 0) continue;
        const { actionSpace } = spacesOf(this, seat);
        const row = { batch: actions[seat], row: env };
        checkAction(actionSpace, readRow(actionSpace, row));
      }
    }
  }

  /**
   * Returns what a seat sees in all worlds.
   *
   * @param seat Index of the seat.
   * @returns Observations, reused by the next call for the seat.
   * @throws {RangeError} If there is no such seat.
   */
  observe(seat: number): Batch {
    checkIndex(this.#id, "seat", { index: seat, count: this.seats.length });
    copyBatch(this.#told.seen[seat], this.#seen[seat]);
    return this.#seen[seat];
  }

  /**
   * Saves the seed of each game and the actions since.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return { toAct: this.toAct.slice(), host: this.#host.save() };
  }

  /**
   * Restores what `save` returned by playing the games again.
   *
   * @param state Saved state.
   * @throws {TypeError} If it is no saved state of such worlds.
   * @throws {RangeError} If it is of another game.
   */
  load(state: StateTree): void {
    const saved = snapshotRecord(state, ["toAct", "host"]);
    const toAct = savedArray(this.#id, ["toAct", saved.toAct], this.toAct);
    this.#host.load(saved.host);
    // Only to be told what is seen now.
    this.#reset(new Array(this.numEnvs).fill(UNTOUCHED));
    this.toAct.set(toAct);
  }

  /**
   * Draws a world's current state.
   *
   * @param env Index of the world.
   * @param options The picture's size; by default the game's own.
   * @returns The picture.
   * @throws {RangeError} If there is no such world.
   * @throws {TypeError} If the game cannot draw to an array.
   */
  render(env: number, options: RenderOptions = {}): RgbImage {
    checkIndex(this.#id, "world", { index: env, count: this.numEnvs });
    return this.#host.render(env, options);
  }

  /** Ends the process. */
  close(): void {
    this.#host.close();
  }
}

/** Makes seats of the names of agents, with roles by their spaces and teams by name. */
function seatsOf(
  names: readonly string[],
  spaces: readonly RoleSpaces[],
): Seat[] {
  const stems = names.map((it) => it.replace(/_?\d+$/, ""));
  const areEqual = (among: readonly RoleSpaces[]) =>
    among.every(({ observationSpace, actionSpace }) =>
      spacesEqual(observationSpace, among[0].observationSpace) &&
      spacesEqual(actionSpace, among[0].actionSpace)
    );
  const isOne = areEqual(spaces), isOneTeam = new Set(stems).size === 1;
  return names.map((name, i) => {
    const stem = stems[i], alike = spaces.filter((_, k) => stems[k] === stem);
    return {
      name,
      role: isOne ? "player" : areEqual(alike) ? stem : name,
      ...!isOneTeam && { team: stem },
    };
  });
}

/**
 * Makes a game of Python's PettingZoo known as `pz:NAME`, so that `make`, `makeVec` and
 * `makeWorld` make it; where it is known already, these options take the place of the
 * former ones. Python starts only when one is made, which also tells whether there is
 * such a game. Options of the game itself are the `kwargs` of `makeWorld`; `make` and
 * `makeVec` also take those of self-play.
 *
 * @param id The game's name, see {@linkcode PettingZooWorld}.
 * @param options Registry that it is kept in, and its own options.
 * @returns The name that it is registered by.
 * @example
 * ```ts
 * import { makeVec } from "@bellman/envs";
 * import { hasPettingZoo, registerPettingZoo } from "@bellman/envs/gymnasium";
 * import { assertEquals } from "@std/assert";
 *
 * const id = registerPettingZoo("tictactoe_v3");
 * assertEquals(id, "pz:tictactoe_v3");
 * if (hasPettingZoo()) {
 *   const env = makeVec(id, { numEnvs: 2, kwargs: { opponent: "random" } });
 *   assertEquals(env.reset({ seed: 0 }).length, 36);
 *   env.close();
 * }
 * ```
 */
export function registerPettingZoo(
  id: string,
  { registry = defaultRegistry, ...options }: RegisterPettingZooOptions = {},
): string {
  const name = `pz:${id}`;
  const makeWorld = (made: WorldOptions) =>
    new PettingZooWorld(id, {
      ...options,
      numEnvs: made.numEnvs,
      maxEpisodeSteps: made.maxEpisodeSteps,
      kwargs: { ...options.kwargs, ...made.kwargs },
    });
  const spec = { id: name };
  registry.set(name, { ...spec, ...gameMakers(makeWorld, spec) });
  return name;
}
