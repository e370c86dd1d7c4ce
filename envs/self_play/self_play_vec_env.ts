import type {
  Batch,
  DiscreteSpace,
  EnvSpec,
  Space,
  StateTree,
  Statistics,
  Trainable,
  VecEnv,
  VecResetOptions,
  VecStep,
  World,
} from "@bellman/types";
import { loadAtomically } from "@bellman/files";
import { countChoices } from "../_action_masks.ts";
import { checkSavedEnvs } from "../_checks.ts";
import { allocateStep, type MutableStep } from "../_steps.ts";
import { checkReset, EnvStreams, VEC_RESET } from "../random.ts";
import { savedArray, snapshotRecord } from "../snapshot.ts";
import { ActionRows } from "../spaces/_action_rows.ts";
import {
  allocateBatch,
  cloneBatch,
  copyBatch,
  copyRow,
  writeRow,
} from "../spaces/batch.ts";
import { actionChoices } from "../spaces/choices.ts";
import { randomPlayer } from "./players.ts";
import { gameName, meanReturn, spacesOf, teamOf } from "./_seats.ts";
import { type SeatView, viewOf } from "./actor_player.ts";
import { Opponents } from "./opponents.ts";
import { type SelfPlayOptions, settledOptions } from "./options.ts";
import type { PoolRatings } from "./opponent_pool.ts";

/**
 * Vector environment of games with several seats: row `i` is the learner's seat in world
 * `i`, and the other seats are played inside, until the learner is to act again. So a
 * transition spans from a move of the learner to its next one: rewards in between add
 * up, an end by another's move is an end, and the discount counts the learner's moves.
 *
 * By default opponents are snapshots of the learner that {@linkcode play} names, and the
 * newest policy plays team mates; random players do before that.
 *
 * @typeParam O Observations of one seat in all worlds.
 * @typeParam A Actions of one seat in all worlds.
 *
 * @example
 * ```ts
 * import { SelfPlayVecEnv, TicTacToe } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 4 }));
 * env.reset({ seed: 0 });
 * const first = (row: number) => env.actionMasks!.indexOf(1, 9 * row) - 9 * row;
 * const step = env.step(Int32Array.of(first(0), first(1), first(2), first(3)));
 * assertEquals(step.rewards.length, 4);
 * ```
 */
export class SelfPlayVecEnv<O extends Batch = Batch, A extends Batch = Batch>
  implements VecEnv<O, A> {
  /** Number of worlds. */
  readonly numEnvs: number;
  /** Space of the learner's observations. */
  readonly observationSpace: Space;
  /** Space of the learner's actions. */
  readonly actionSpace: Space;
  /** Metadata of the game, if it was made by name. */
  readonly spec?: EnvSpec;
  /** Masks of the learner's actions `[numEnvs, choices]`, if the game has some. */
  readonly actionMasks?: Uint8Array;
  /** The worlds. */
  readonly world: World<O, A>;

  readonly #options: ReturnType<typeof settledOptions>;
  readonly #opponents: Opponents;
  readonly #streams = new EnvStreams();
  readonly #step: MutableStep;
  readonly #read: ActionRows;
  /** Numbers of choices of the parts of an action, where actions are masked. */
  readonly #choices: readonly number[] = [];
  /** Actions of each seat. */
  readonly #actions: A[];
  /** The learner's seat in each world. */
  readonly #seats: Int32Array;
  /** Worlds to step. */
  readonly #which: Uint8Array;
  /** 1 where a game is over. */
  readonly #over: Uint8Array;
  /** 1 where the learner has moved in the present game. */
  readonly #moved: Uint8Array;
  /** Sum of each seat's rewards in the present game `[numEnvs, seats]`. */
  readonly #returns: Float64Array;

  /**
   * Makes a vector environment of worlds.
   *
   * @param world The worlds.
   * @param options Opponents, snapshots, the learner's seat.
   * @throws {RangeError} If an option is out of its range, or there is no such seat.
   * @throws {TypeError} If the learner may not take all seats, as their spaces differ.
   */
  constructor(world: World<O, A>, options: SelfPlayOptions = {}) {
    const { numEnvs, seats, spec } = world;
    this.world = world;
    this.numEnvs = numEnvs;
    this.spec = spec;
    this.#options = settledOptions(options, world);
    const { role } = this.#options;
    const { observationSpace, actionSpace } = world.roles[role];
    this.observationSpace = observationSpace;
    this.actionSpace = actionSpace;
    const isMasked = world.actionMasks !== undefined;
    const choices = isMasked ? countChoices(actionSpace, spec?.id) : undefined;
    this.#step = allocateStep(observationSpace, numEnvs, choices);
    this.#read = new ActionRows(actionSpace, numEnvs);
    if (isMasked) {
      this.actionMasks = this.#step.actionMasks;
      this.#choices = actionChoices(actionSpace)!;
    }
    this.#actions = seats.map((_, seat) =>
      allocateBatch(spacesOf(world, seat).actionSpace, numEnvs) as A
    );
    this.#seats = new Int32Array(numEnvs);
    this.#which = new Uint8Array(numEnvs);
    this.#over = new Uint8Array(numEnvs);
    this.#moved = new Uint8Array(numEnvs);
    this.#returns = new Float64Array(numEnvs * seats.length);
    this.#opponents = new Opponents(world as World, this.#options, this.#seats);
  }

  /**
   * Names the learner, whose snapshots play the other seats. A restored environment
   * plays on with the snapshots that it had.
   *
   * @param learner The agent; its policy must be no recurrent one.
   * @throws {TypeError} If its policy is recurrent, or cannot be frozen.
   */
  play(learner: Pick<Trainable, "policy">): void {
    this.#opponents.play(learner);
  }

  /**
   * Returns Elo ratings: of the newest policy, and of each snapshot that is kept with
   * the learner's steps at which it was taken, oldest first.
   */
  ratings(): PoolRatings {
    return this.#opponents.pool.list();
  }

  /**
   * Returns statistics for logs: `self_play/elo` of the newest policy,
   * `self_play/win_rate` over the last 100 games (a draw counts half), and
   * `self_play/opponent_age`, the mean age of the opponents in the learner's steps.
   */
  statistics(): Statistics {
    return this.#opponents.statistics();
  }

  /**
   * Starts a game in every world.
   *
   * @param options Seed that restarts the random streams, or one for each world.
   * @returns The first observations; reused by the next step.
   * @throws {RangeError} If a seed is not a whole number of at least 0, or there are too
   * few or too many.
   */
  reset(options: VecResetOptions = {}): O {
    checkReset(options, VEC_RESET);
    const { seed } = options;
    const isFirst = !this.#streams.areSeeded;
    this.#streams.seed(this.numEnvs, seed);
    if (seed !== undefined || isFirst) this.#opponents.seed(seed);
    for (let env = 0; env < this.numEnvs; env++) this.#begin(env, env);
    this.#untilTurn();
    this.#observe();
    return this.#step.observations as O;
  }

  /** Starts a game; `turn` tells which seat the learner takes. */
  #begin(env: number, turn: number): void {
    const { seats, openings } = this.#options, random = this.#streams.of(env);
    this.#seats[env] = seats[turn % seats.length];
    this.#moved[env] = 0;
    const count = this.world.seats.length;
    this.#returns.fill(0, env * count, (env + 1) * count);
    this.#opponents.begin(env);
    for (let attempt = 0; attempt < MOST_GAMES; attempt++) {
      this.world.begin(env, random);
      const moves = openings > 0 ? random.integer(openings + 1) : 0;
      if (this.#open(env, moves)) return;
    }
    throw new Error(
      `Cannot begin ${this.#name}: ${MOST_GAMES} games ended within their ${openings} random opening moves`,
    );
  }

  /** Plays random moves of all seats; returns false if the game ends. */
  #open(env: number, moves: number): boolean {
    if (moves === 0) return true;
    const { world } = this, random = this.#streams.of(env);
    const which = new Uint8Array(this.numEnvs);
    which[env] = 1;
    for (let move = 0; move < moves; move++) {
      world.seats.forEach((_, seat) => {
        const actions = this.#actions[seat];
        randomPlayer(world, { seat, actions, random, which });
      });
      world.step(this.#actions, which);
      if (!this.#isActing(env)) return false;
    }
    return true;
  }

  get #name(): string {
    return gameName(this.world as World);
  }

  /** Finds out if any seat of a world is to act. */
  #isActing(env: number): boolean {
    const { toAct, seats } = this.world, from = env * seats.length;
    for (let at = from; at < from + seats.length; at++) {
      if (toAct[at] === 1) return true;
    }
    return false;
  }

  /** Finds out if the learner is to act in a world. */
  #isTurn(env: number): boolean {
    const { toAct, seats } = this.world;
    return toAct[env * seats.length + this.#seats[env]] === 1;
  }

  /**
   * Takes the learner's move in every world, and those of the others until it is to move
   * again.
   *
   * @param actions One action for each world.
   * @returns The step's result; the same object and arrays each time.
   * @throws {RangeError} If there are too few or too many actions, or one is not of the
   * action space or not allowed; no world is stepped then.
   * @throws {Error} If `reset` has not been called.
   */
  step(actions: A): VecStep<O> {
    if (!this.#streams.areSeeded) {
      throw new Error(
        `Cannot step ${this.#name} as its games have not begun: call reset first`,
      );
    }
    this.#take(actions);
    const step = this.#step, which = this.#which.fill(1);
    step.rewards.fill(0);
    step.terminated.fill(0);
    step.truncated.fill(0);
    this.#moved.fill(1);
    this.#opponents.act(which, this.#actions);
    this.#advance(which);
    this.#untilTurn();
    this.#observe();
    this.#opponents.advance(this.numEnvs);
    return step as VecStep<O>;
  }

  /** Checks the learner's actions and puts them into those of its seats. */
  #take(actions: A): void {
    const space = this.actionSpace, rows = this.#read.read(actions);
    if (this.actionMasks) {
      rows.forEach((it, env) => this.#checkAllowed(it, env));
    }
    rows.forEach((it, row) => {
      writeRow(space, it, { batch: this.#actions[this.#seats[row]], row });
    });
  }

  #checkAllowed(action: unknown, env: number): void {
    const { start = 0 } = this.actionSpace as DiscreteSpace;
    const parts = typeof action === "number"
      ? [action - start]
      : action as ArrayLike<number>;
    const choices = this.#choices, masks = this.actionMasks!;
    const size = masks.length / this.numEnvs;
    for (let part = 0, at = env * size; part < choices.length; part++) {
      if (masks[at + parts[part]] === 0) {
        const mask = masks.subarray(at, at + choices[part]);
        const allowed = [...mask.keys()].filter((it) => mask[it] === 1)
          .map((it) => it + start);
        throw new RangeError(
          `Cannot play ${action} as ${
            this.world.seats[this.#seats[env]].name
          } in world ${env} of ${this.#name}: expected one of ${
            allowed.join(", ")
          }`,
        );
      }
      at += choices[part];
    }
  }

  /** Plays the others' moves where the learner is not to act. */
  #untilTurn(): void {
    const which = this.#which;
    for (let moves = 0; moves < MOST_MOVES; moves++) {
      let isDone = true;
      for (let env = 0; env < this.numEnvs; env++) {
        which[env] = this.#isTurn(env) ? 0 : 1;
        if (which[env] === 1) isDone = false;
      }
      if (isDone) return;
      this.#opponents.act(which, this.#actions);
      this.#advance(which);
    }
    throw new Error(
      `Cannot go on in ${this.#name}: the learner was not to act within ${MOST_MOVES} moves of the others`,
    );
  }

  /** Steps worlds, and adds what happened to the learner's transitions. */
  #advance(which: Uint8Array): void {
    const { world } = this, count = world.seats.length, step = this.#step;
    const { rewards, terminated, truncated } = world.step(this.#actions, which);
    const over = this.#over.fill(0);
    for (let env = 0; env < this.numEnvs; env++) {
      if (which[env] === 0) continue;
      for (let at = env * count; at < (env + 1) * count; at++) {
        this.#returns[at] += rewards[at];
      }
      const at = env * count + this.#seats[env];
      const isEnd = terminated[at] === 1 || truncated[at] === 1;
      over[env] = isEnd || !this.#isActing(env) ? 1 : 0;
      // What comes before its first move follows none of its actions.
      if (this.#moved[env] === 0) continue;
      step.rewards[env] += rewards[at];
      if (over[env] === 0) continue;
      step.terminated[env] = terminated[at];
      step.truncated[env] = terminated[at] === 1 ? 0 : 1;
      this.#opponents.result(env, this.#resultOf(env));
    }
    for (const seat of this.#options.seats) this.#writeFinal(seat);
    // Games that begin may step the worlds again.
    for (let env = 0; env < this.numEnvs; env++) {
      if (over[env] === 1) this.#begin(env, this.#turnOf(env) + 1);
    }
  }

  #turnOf(env: number): number {
    return this.#options.seats.indexOf(this.#seats[env]);
  }

  /** Writes the final observations of the learner's games in a seat. */
  #writeFinal(seat: number): void {
    const { finalObservations: batch, finalActionMasks } = this.#step;
    let view: SeatView | undefined;
    for (let env = 0; env < this.numEnvs; env++) {
      const isOver = this.#over[env] === 1 && this.#moved[env] === 1;
      if (!isOver || this.#seats[env] !== seat) continue;
      const { seen, masks } = view ??= viewOf(this.world as World, seat);
      const row = { batch, row: env };
      copyRow(this.observationSpace, { batch: seen, row: env }, row);
      if (masks === undefined) continue;
      const size = masks.length / this.numEnvs, from = env * size;
      const mask = masks.subarray(from, from + size);
      // Nothing is allowed in a game that is over, but values need a choice.
      if (mask.includes(1)) finalActionMasks!.set(mask, from);
      else finalActionMasks!.fill(1, from, from + size);
    }
  }

  /** Returns the learner's score: 1 if it got more than the others, 0.5 if as much. */
  #resultOf(env: number): number {
    const { world } = this, own = this.#seats[env];
    const team = teamOf(world.seats[own]);
    if (world.seats.every((it) => teamOf(it) === team)) return 0.5;
    const mean = (counts: Parameters<typeof meanReturn>[2]["counts"]) =>
      meanReturn(world, this.#returns, { env, counts });
    const difference = mean((_, seat) => seat === own) -
      mean((it) => teamOf(it) !== team);
    return difference === 0 ? 0.5 : difference > 0 ? 1 : 0;
  }

  /** Copies what the learner sees in each world. */
  #observe(): void {
    const { world, numEnvs } = this, space = this.observationSpace;
    const { observations: batch } = this.#step, masks = this.actionMasks;
    const size = masks ? masks.length / numEnvs : 0;
    for (const seat of this.#options.seats) {
      if (!this.#seats.includes(seat)) continue;
      const { seen, masks: allowed } = viewOf(world as World, seat);
      for (let row = 0; row < numEnvs; row++) {
        if (this.#seats[row] !== seat) continue;
        copyRow(space, { batch: seen, row }, { batch, row });
        const from = row * size;
        masks?.set(allowed!.subarray(from, from + size), from);
      }
    }
  }

  /**
   * Saves worlds, random streams and opponents.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return {
      world: this.world.save(),
      randoms: this.#streams.save(),
      seats: this.#seats.slice(),
      returns: this.#returns.slice(),
      observations: cloneBatch(this.#step.observations) as StateTree,
      ...this.actionMasks && { actionMasks: this.actionMasks.slice() },
      opponents: this.#opponents.save(),
    };
  }

  /**
   * Restores a state.
   *
   * @param state State that `save` returned.
   * @throws {TypeError} If it is no state of such worlds.
   * @throws {RangeError} If it is of another number of worlds.
   */
  load(state: StateTree): void {
    loadAtomically(state, {
      save: () => this.save(),
      load: (it) => this.#load(it),
    });
  }

  #load(state: StateTree): void {
    const keys = ["world", "randoms", "seats", "returns", "observations"];
    const saved = snapshotRecord(state, [...keys, "opponents"]);
    checkSavedEnvs(this.numEnvs, (saved.seats as Batch[] | null)?.length ?? 0);
    const array = <T extends Int32Array | Float64Array | Uint8Array>(
      entry: string,
      like: T,
    ) => savedArray(this.#name, [entry, saved[entry]], like);
    const seats = array("seats", this.#seats);
    const returns = array("returns", this.#returns);
    const masks = this.actionMasks && array("actionMasks", this.actionMasks);
    const loadOpponents = this.#opponents.read(saved.opponents);
    const randoms = saved.randoms as StateTree[];
    this.#streams.load(randoms);
    this.world.load(saved.world, randoms.map((_, i) => this.#streams.of(i)));
    this.#seats.set(seats);
    this.#returns.set(returns);
    copyBatch(saved.observations as Batch, this.#step.observations);
    if (masks) this.actionMasks!.set(masks);
    loadOpponents();
  }

  /**
   * Returns the latest observations.
   *
   * @returns The batch; reused by the next step.
   */
  observations(): O {
    return this.#step.observations as O;
  }

  /** Closes the worlds and the opponents. */
  close(): void {
    this.#opponents.close();
    this.world.close();
  }
}

/** Most games that may end before the learner's first move. */
const MOST_GAMES = 1000;
/** Most moves of others between two of the learner. */
const MOST_MOVES = 100_000;
