import type {
  Batch,
  Env,
  EnvSpec,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
  VecEnv,
  World,
} from "@bellman/types";
import { hintAt } from "@bellman/files/options";
import {
  checkSearch,
  minimax,
  type Player,
  randomPlayer,
  scriptedPlayer,
} from "./players.ts";
import { checkReset, RESET } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import { allocateBatch, readRow, writeRow } from "../spaces/batch.ts";
import { Wrapper } from "../wrappers/wrapper.ts";
import { checkSeats } from "./_seats.ts";
import { isSelfPlayOption, type SelfPlayOptions } from "./options.ts";
import { SelfPlayVecEnv } from "./self_play_vec_env.ts";

/** Options of worlds that are made by name. */
export interface WorldOptions {
  /** Number of worlds. */
  readonly numEnvs: number;
  /** Steps after which a game is truncated; undefined for the game's own limit. */
  readonly maxEpisodeSteps?: number;
  /** Metadata of the game. */
  readonly spec?: EnvSpec;
  /** Options of the game's own. */
  readonly kwargs: Readonly<Record<string, unknown>>;
}

/** Players by name. */
const PLAYERS: Readonly<Record<string, (world: World) => Player>> = {
  random: () => randomPlayer,
  scripted: scriptedPlayer,
};

/** Name of a player that searches, and the plies that it looks ahead. */
const MINIMAX = /^minimax(?::(.*))?$/s;

/** Most plies of a player by name, as each multiplies the time. */
const MOST_PLIES = 8;

/**
 * Finds out if a name is that of a player by rules; {@linkcode playerNamed} makes it.
 *
 * @param name The name.
 * @returns True for `random`, `scripted`, and those that start with `minimax:`.
 * @example
 * ```ts
 * import { isPlayerName } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const names = ["scripted", "minimax:4", "runs/a"];
 * assertEquals(names.map(isPlayerName), [true, true, false]);
 * ```
 */
export function isPlayerName(name: string): boolean {
  return Object.hasOwn(PLAYERS, name) || MINIMAX.test(name);
}

/**
 * Returns a player of worlds by name.
 *
 * @param world The worlds.
 * @param name `random`, `scripted`, or `minimax:N` which looks 1 to 8 plies ahead.
 * @returns The player.
 * @throws {RangeError} If there is none of that name, or of so many plies.
 * @throws {TypeError} If the worlds have no such player.
 * @example
 * ```ts
 * import { playerNamed, randomPlayer, TicTacToe } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(playerNamed(new TicTacToe(), "random"), randomPlayer);
 * ```
 */
export function playerNamed(world: World, name: string): Player {
  if (Object.hasOwn(PLAYERS, name)) return PLAYERS[name](world);
  const searches = MINIMAX.exec(name);
  if (searches === null) {
    const names = [...Object.keys(PLAYERS), "minimax:4"];
    throw new RangeError(`Unknown opponent '${name}': ${hintAt(name, names)}`);
  }
  const depth = /^\d+$/.test(searches[1]) ? Number(searches[1]) : NaN;
  if (!(depth >= 1 && depth <= MOST_PLIES)) {
    throw new RangeError(
      `Cannot play against ${name}: expected 1 to ${MOST_PLIES} plies, as in minimax:4`,
    );
  }
  checkSearch(world);
  return minimax({ depth });
}

/**
 * Makes the vector environment of a game by name. Its options are those of the game and
 * of self-play, where `opponent` may be the name of a player.
 */
function gameVecEnv(
  makeWorld: (options: WorldOptions) => World,
  { kwargs, ...options }: WorldOptions,
): SelfPlayVecEnv {
  const world = makeWorld({ ...options, kwargs: gameKwargs(kwargs) });
  const play = Object.entries(kwargs)
    .filter(([name]) => isSelfPlayOption(name));
  const { opponent, ...others } = Object.fromEntries(play) as
    & Omit<SelfPlayOptions, "opponent">
    & { opponent?: Player | string };
  return new SelfPlayVecEnv(world, {
    ...others,
    ...opponent !== undefined && {
      opponent: typeof opponent === "string"
        ? playerNamed(world, opponent)
        : opponent,
    },
  });
}

/** Returns the options of a game's own, without those of self-play. */
export function gameKwargs(
  kwargs: WorldOptions["kwargs"],
): WorldOptions["kwargs"] {
  const entries = Object.entries(kwargs);
  return Object.fromEntries(
    entries.filter(([name]) => !isSelfPlayOption(name)),
  );
}

/** Makers of worlds, and of environments in which a learner takes one of the seats. */
interface GameMakers {
  makeWorld(options: WorldOptions): World;
  limitsItself: true;
  make(
    kwargs: WorldOptions["kwargs"],
    options?: { maxEpisodeSteps?: number },
  ): Env;
  makeVec(options: WorldOptions): SelfPlayVecEnv;
}

/** Returns the makers of a registration of a game. */
export function gameMakers(
  makeOwn: GameMakers["makeWorld"],
  spec: EnvSpec,
): GameMakers {
  const makeWorld = (options: WorldOptions) => {
    const world = makeOwn(options);
    checkSeats(world);
    return world;
  };
  const game = ({ numEnvs, maxEpisodeSteps, kwargs }: WorldOptions) =>
    gameVecEnv(makeWorld, {
      ...{ numEnvs, kwargs, spec: { ...spec, maxEpisodeSteps } },
      ...maxEpisodeSteps !== undefined && { maxEpisodeSteps },
    });
  return {
    makeWorld,
    limitsItself: true,
    make(kwargs, { maxEpisodeSteps = spec.maxEpisodeSteps } = {}) {
      const env = game({ numEnvs: 1, maxEpisodeSteps, kwargs });
      return new OnlyEnv(env, (options) => env.world.render(0, options));
    },
    makeVec: game,
  };
}

/** The only environment of a vector as a single one. */
export class OnlyEnv implements Env {
  /** Space of its observations. */
  readonly observationSpace: Space;
  /** Space of its actions. */
  readonly actionSpace: Space;
  /** Metadata of the game. */
  readonly spec?: EnvSpec;
  /** Masks of the newest observation, if the game has some. */
  readonly actionMasks?: () => Uint8Array;
  /** Renders the game. */
  readonly render: Env["render"];
  /** The vector. */
  readonly game: VecEnv;
  readonly #actions: Batch;
  #hasEnded = false;
  #masks: Uint8Array | undefined;

  /** Takes a vector of one environment, and what renders it. */
  constructor(game: VecEnv, render: Env["render"]) {
    this.game = game;
    this.render = render;
    this.observationSpace = game.observationSpace;
    this.actionSpace = game.actionSpace;
    this.spec = game.spec;
    this.#actions = allocateBatch(game.actionSpace, 1);
    if (game.actionMasks) {
      this.actionMasks = () => this.#masks ?? game.actionMasks!;
    }
  }

  /** Starts a game. */
  reset(options: { seed?: number } = {}): SpaceValue {
    checkReset(options, RESET);
    const { seed } = options;
    // The next game has begun when the last one ended.
    const batch = this.#hasEnded && seed === undefined
      ? this.game.observations()
      : this.game.reset(seed === undefined ? {} : { seed: [seed] });
    this.#hasEnded = false;
    this.#masks = undefined;
    return readRow(this.observationSpace, { batch, row: 0 });
  }

  /** Takes a move, and those of the others. */
  step(action: SpaceValue): StepResult {
    if (this.#hasEnded) {
      throw new Error(
        `Cannot step ${
          this.spec?.id ?? "a game"
        } after its end: call reset first`,
      );
    }
    writeRow(this.actionSpace, action, { batch: this.#actions, row: 0 });
    const step = this.game.step(this.#actions);
    const terminated = step.terminated[0] === 1;
    const truncated = step.truncated[0] === 1;
    this.#hasEnded = terminated || truncated;
    this.#masks = this.#hasEnded ? step.finalActionMasks?.slice() : undefined;
    const batch = this.#hasEnded ? step.finalObservations : step.observations;
    const observation = readRow(this.observationSpace, { batch, row: 0 });
    return { observation, reward: step.rewards[0], terminated, truncated };
  }

  /** Saves the game. */
  save(): StateTree {
    return {
      game: this.game.save(),
      hasEnded: this.#hasEnded,
      masks: this.#masks?.slice() ?? null,
    };
  }

  /** Restores a state. */
  load(state: StateTree): void {
    const saved = snapshotRecord(state, ["game", "hasEnded", "masks"]);
    this.game.load(saved.game);
    this.#hasEnded = saved.hasEnded as boolean;
    this.#masks = (saved.masks as Uint8Array | null)?.slice();
  }

  /** Frees the game. */
  close(): void {
    this.game.close();
  }
}

/**
 * Finds the games of one role inside of wrappers.
 *
 * @param env Vector environment.
 * @returns The environment whose snapshots play, or undefined if there is none.
 * @example
 * ```ts
 * import { makeVec } from "@bellman/envs";
 * import { gameOf } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const env = makeVec("ConnectFour-v0", { numEnvs: 8 });
 * assertEquals(gameOf(env)?.world.seats.length, 2);
 * assertEquals(gameOf(makeVec("CartPole-v1", { numEnvs: 8 })), undefined);
 * ```
 */
export function gameOf(env: VecEnv): SelfPlayVecEnv | undefined {
  let inside: unknown = env;
  while (inside instanceof Wrapper) inside = inside.env;
  return inside instanceof SelfPlayVecEnv ? inside : undefined;
}
