import type {
  Actor,
  Batch,
  BoxArray,
  StateTree,
  Statistics,
  Trainable,
  World,
} from "@bellman/types";
import { randomPlayer } from "./players.ts";
import { SeededRandom } from "../random.ts";
import { savedArray, snapshotRecord, wrongEntry } from "../snapshot.ts";
import { gameName, haveSameSpaces, roleOf, teamOf } from "./_seats.ts";
import { actAs, viewOf } from "./actor_player.ts";
import { NEWEST, OpponentPool } from "./opponent_pool.ts";
import type { SettledOptions } from "./options.ts";

/** Agent whose snapshots play. */
export type Learner = Pick<Trainable, "policy">;

/** Actor with a copy of parameters, which acts at once. */
type Snapshot = Actor & Required<Pick<Actor, "save" | "load">>;

/** Games that the win rate is over. */
const RECENT = 100;

/**
 * Players of the seats that the learner does not take: an opponent for each group of
 * worlds, drawn from snapshots of the learner, and the newest policy for its team
 * mates; or one player for all.
 */
export class Opponents {
  /** Ratings of the snapshots. */
  readonly pool: OpponentPool;
  readonly #world: World;
  readonly #options: SettledOptions;
  /** The learner's seat in each world. */
  readonly #seats: Int32Array;
  readonly #random = new SeededRandom(0);
  /** State of the player that is no snapshot, as it was given. */
  readonly #given: StateTree | undefined;
  #learner: Learner | undefined;
  /** Actors of the pool's places, then that of the newest policy. */
  readonly #actors: (Snapshot | undefined)[];
  /** States of actors that are not made yet, as there is no learner. */
  #states: StateTree[] | undefined;
  /** Place of each group's opponent. */
  readonly #places: Int32Array;
  /** 1 where the opponent has been the same since the game began. */
  readonly #rated: Uint8Array;
  /** Results of the last games, and how many there were. */
  readonly #results = new Float64Array(RECENT);
  #games = 0;
  #steps = 0;
  /** Rows of a seat that are played here. */
  readonly #rows: Uint8Array;
  readonly #some: Uint8Array;

  constructor(world: World, options: SettledOptions, seats: Int32Array) {
    this.#world = world;
    this.#options = options;
    this.#seats = seats;
    this.#given = options.opponent?.save?.();
    this.pool = new OpponentPool(options.window, { k: RATING_CHANGE });
    this.#actors = new Array(options.window + 1).fill(undefined);
    this.#places = new Int32Array(options.groups).fill(NEWEST);
    this.#rated = new Uint8Array(world.numEnvs);
    this.#rows = new Uint8Array(world.numEnvs);
    this.#some = new Uint8Array(world.numEnvs);
  }

  /** Number of worlds in a group. */
  get #groupSize(): number {
    return this.#world.numEnvs / this.#options.groups;
  }

  get #hasSnapshots(): boolean {
    return this.#learner !== undefined;
  }

  /** Restarts the random stream, and the player that is no snapshot. */
  seed(seed: number | readonly number[] | undefined): void {
    const first = typeof seed === "object" ? seed[0] : seed ?? 0;
    this.#random.load(new SeededRandom(first).save());
    if (this.#given !== undefined) this.#options.opponent!.load?.(this.#given);
  }

  /** Takes the first snapshot of a learner, or those of a restored state. */
  play(learner: Learner): void {
    if (this.#options.opponent !== undefined) return;
    const actor = learner.policy({ frozen: true, numEnvs: 1 });
    if (actor.save === undefined || actor.load === undefined) {
      throw new TypeError(
        "Cannot play with snapshots of an agent whose policy has no save and load: expected an agent of @bellman/agent",
      );
    }
    this.#checkRoles(actor);
    if (isRecurrent(learner)) {
      throw new TypeError(
        "Cannot play with snapshots of a recurrent policy, which would remember moves of other games: expected a network without memory",
      );
    }
    this.#learner = learner;
    if (this.#states !== undefined) this.#restore(this.#states);
    if (this.#newest === undefined) this.#takeSnapshot();
  }

  /** Throws unless the learner's policy, or one of its policies, fits each seat. */
  #checkRoles({ roles }: Actor): void {
    const world = this.#world, { role } = this.#options;
    const fits = (it: string) =>
      roles?.includes(it) ?? haveSameSpaces(world.roles[it], world.roles[role]);
    const odd = world.seats.map(roleOf).find((it) => !fits(it));
    if (odd === undefined) return;
    throw new TypeError(
      `Cannot play the role ${odd} of ${
        gameName(world)
      } with snapshots of an agent of ${
        roles ?? role
      }: expected an opponent, or an agent for each role`,
    );
  }

  /** Counts the learner's steps: takes snapshots and draws opponents when it is time. */
  advance(steps: number): void {
    const before = this.#steps, after = this.#steps += steps;
    if (!this.#hasSnapshots) return;
    const isDue = (every: number) =>
      Math.floor(before / every) < Math.floor(after / every);
    const { snapshotEvery, swapEvery } = this.#options;
    if (isDue(snapshotEvery)) this.#takeSnapshot();
    if (isDue(swapEvery)) this.#swap();
  }

  #takeSnapshot(): void {
    const place = this.pool.store(this.#steps);
    this.#freeze(place);
    if (this.#newest === undefined) this.#swap();
    // Nobody goes on with one that is not there any longer.
    this.#places.forEach((it, group) => {
      if (it === place) this.#draw(group);
    });
  }

  get #newest(): Snapshot | undefined {
    return this.#actors[this.#options.window];
  }

  #swap(): void {
    this.#freeze(NEWEST);
    for (let group = 0; group < this.#places.length; group++) this.#draw(group);
  }

  /** Draws the opponent of a group; games that have begun with another are not rated. */
  #draw(group: number): void {
    const place = this.pool.draw(this.#random, this.#options.latest);
    this.#places[group] = place;
    const from = group * this.#groupSize;
    this.#rated.fill(0, from, from + this.#groupSize);
  }

  /** Copies the learner's present policy into a place. */
  #freeze(place: number): void {
    const seed = this.#random.integer(2 ** 31);
    const numEnvs = this.#groupSize;
    const actor = this.#learner!
      .policy({ frozen: true, numEnvs, seed }) as Snapshot;
    const at = place === NEWEST ? this.#options.window : place;
    const own = this.#actors[at];
    // One that is there is compiled.
    if (own === undefined) this.#actors[at] = actor;
    else own.load(actor.save());
  }

  /** Notes that a game begins. */
  begin(env: number): void {
    this.#rated[env] = 1;
  }

  /** Notes the learner's score in a game. */
  result(env: number, score: number): void {
    this.#results[this.#games++ % RECENT] = score;
    if (!this.#hasSnapshots || this.#rated[env] === 0) return;
    this.pool.rate(this.#places[Math.floor(env / this.#groupSize)], score);
  }

  statistics(): Statistics {
    const count = Math.min(this.#games, RECENT);
    const sum = this.#results.subarray(0, count).reduce((a, b) => a + b, 0);
    const won: Statistics = count === 0
      ? {}
      : { "self_play/win_rate": sum / count };
    if (!this.#hasSnapshots) return won;
    const ages = Array.from(
      this.#places,
      (it) => it === NEWEST ? 0 : this.#steps - this.pool.steps[it],
    );
    return {
      "self_play/elo": this.pool.newest,
      ...won,
      "self_play/opponent_age": ages.reduce((a, b) => a + b) / ages.length,
    };
  }

  /** Writes the actions of all seats but the learner's, in some worlds. */
  act(which: Uint8Array, actions: readonly Batch[]): void {
    const { seats } = this.#world;
    for (let seat = 0; seat < seats.length; seat++) {
      if (this.#mark(seat, which)) this.#actAs(seat, actions[seat]);
    }
  }

  /** Marks the rows where a seat is to act and not the learner's. */
  #mark(seat: number, which: Uint8Array): boolean {
    const { toAct, seats, numEnvs } = this.#world, rows = this.#rows;
    let isAny = false;
    for (let env = 0; env < numEnvs; env++) {
      const isHere = which[env] === 1 && this.#seats[env] !== seat &&
        toAct[env * seats.length + seat] === 1;
      rows[env] = isHere ? 1 : 0;
      if (isHere) isAny = true;
    }
    return isAny;
  }

  #actAs(seat: number, actions: Batch): void {
    const world = this.#world, random = this.#random, rows = this.#rows;
    const { opponent, randomMoves } = this.#options;
    const turn = { seat, actions, random, which: rows };
    if (opponent !== undefined) opponent(world, turn);
    else if (this.#learner === undefined) randomPlayer(world, turn);
    else this.#actBySnapshots(seat, actions);
    if (randomMoves === 0) return;
    const some = this.#some;
    for (let env = 0; env < rows.length; env++) {
      some[env] = rows[env] === 1 && random.uniform() < randomMoves ? 1 : 0;
    }
    randomPlayer(world, { ...turn, which: some });
  }

  #actBySnapshots(seat: number, actions: Batch): void {
    const rows = this.#rows, mates = this.#some, size = this.#groupSize;
    for (let env = 0; env < rows.length; env++) {
      mates[env] = rows[env] === 1 && this.#isMate(seat, env) ? 1 : 0;
      if (mates[env] === 1) rows[env] = 0;
    }
    const view = viewOf(this.#world, seat), newest = this.#newest!;
    this.#places.forEach((place, group) => {
      const opponent = place === NEWEST ? newest : this.#actors[place]!;
      const from = group * size, own = { actions, from, to: from + size };
      actAs(opponent, view, { ...own, which: rows });
      actAs(newest, view, { ...own, which: mates });
    });
    for (let env = 0; env < rows.length; env++) rows[env] |= mates[env];
  }

  #isMate(seat: number, env: number): boolean {
    const { seats } = this.#world;
    return teamOf(seats[seat]) === teamOf(seats[this.#seats[env]]);
  }

  save(): StateTree {
    return {
      pool: this.pool.save(),
      random: this.#random.save(),
      places: this.#places.slice(),
      rated: this.#rated.slice(),
      results: this.#results.slice(),
      games: this.#games,
      steps: this.#steps,
      actors: this.#states ?? this.#actors.map((it) => it?.save() ?? null),
      ...this.#given !== undefined && {
        opponent: this.#options.opponent!.save!(),
      },
    };
  }

  /** Reads a saved state, and returns a function that restores it. */
  read(state: StateTree): () => void {
    const saved = snapshotRecord(state, [
      ...["pool", "random", "places", "rated", "results"],
      ...["games", "steps", "actors"],
      ...this.#given === undefined ? [] : ["opponent"],
    ]);
    const array = <T extends BoxArray>(entry: string, like: T) =>
      savedArray("opponents", [entry, saved[entry]], like);
    const places = array("places", this.#places);
    const rated = array("rated", this.#rated);
    const results = array("results", this.#results);
    const { actors, games, steps } = saved;
    if (!Array.isArray(actors) || actors.length !== this.#actors.length) {
      throw wrongEntry("opponents", ["actors", actors], "one for each place");
    }
    const loadPool = this.pool.read(saved.pool);
    return () => {
      this.#random.load(saved.random);
      loadPool();
      this.#places.set(places);
      this.#rated.set(rated);
      this.#results.set(results);
      this.#games = games as number;
      this.#steps = steps as number;
      if (this.#given !== undefined) {
        this.#options.opponent!.load?.(saved.opponent);
      }
      if (this.#hasSnapshots) this.#restore(actors);
      else this.#states = actors;
    };
  }

  #restore(states: readonly StateTree[]): void {
    this.#states = undefined;
    states.forEach((state, at) => {
      if (state === null) return;
      const numEnvs = this.#groupSize;
      const actor = this.#actors[at] ??= this.#learner!
        .policy({ frozen: true, numEnvs }) as Snapshot;
      actor.load(state);
    });
  }

  close(): void {
    for (const actor of this.#actors) actor?.close?.();
  }
}

/** Finds out if a policy of a learner has a memory. */
function isRecurrent(
  learner: Learner & {
    agents?: Readonly<Record<string, Learner>>;
    model?: { stateSize?: number };
  },
): boolean {
  const { agents = {}, model } = learner;
  return Boolean(model?.stateSize) || Object.values(agents).some(isRecurrent);
}

/** Snapshot of a learner in a saved environment. */
export interface SavedSnapshot {
  /** The learner's steps when it was taken. */
  readonly steps: number;
  /** State of an actor with its parameters, as its `save` returned it. */
  readonly state: StateTree;
}

/**
 * Finds the snapshots in a saved environment, inside of wrappers.
 *
 * @param state State that `save` of the environment returned.
 * @returns The snapshots, oldest first; none where there are no games.
 * @example
 * ```ts
 * import { savedSnapshots, SelfPlayVecEnv, TicTacToe } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new SelfPlayVecEnv(new TicTacToe());
 * assertEquals(savedSnapshots(env.save()), []);
 * ```
 */
export function savedSnapshots(state: StateTree): SavedSnapshot[] {
  if (
    typeof state !== "object" || state === null || ArrayBuffer.isView(state)
  ) {
    return [];
  }
  const { pool, actors } = state as Record<string, StateTree>;
  if (!Array.isArray(actors) || pool === undefined) {
    return Object.values(state).flatMap((it) => savedSnapshots(it));
  }
  const { steps, count } = pool as { steps: Float64Array; count: number };
  return Array.from({ length: Math.min(count, steps.length) }, (_, place) => ({
    steps: steps[place],
    state: actors[place],
  })).sort((a, b) => a.steps - b.steps);
}

/** Largest change of a rating by one game. */
const RATING_CHANGE = 16;
