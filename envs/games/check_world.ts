import { checkOptions, FLAG, whole } from "@bellman/files/options";
import type { Batch, Space, StateTree, World, WorldStep } from "@bellman/types";
import { countChoices, forbiddenFault, maskFault } from "../_action_masks.ts";
import { EnvData } from "../_env_data.ts";
import { exactText, pictureFault } from "../check_env.ts";
import { EnvDataError } from "../env_data_error.ts";
import { copySeeds, SeededRandom } from "../random.ts";
import { snapshotFault } from "../snapshot.ts";
import { allocateBatch, cloneBatch, readRow } from "../spaces/batch.ts";
import { checkSpace } from "../spaces/check_space.ts";
import { actionChoices } from "../spaces/choices.ts";
import { randomPlayer } from "../self_play/players.ts";

/** Thoroughness of {@linkcode checkWorld}. */
export interface CheckWorldOptions {
  /**
   * Steps of each comparison.
   *
   * @default 200
   */
  steps?: number;
  /**
   * Seed of the worlds' streams and of the actions.
   *
   * @default 0
   */
  seed?: number;
  /**
   * Draw and check a picture.
   *
   * @default true
   */
  render?: boolean;
}

const OPTIONS = { steps: whole(1), seed: whole(0), render: FLAG };

function fail(problem: string): never {
  throw new Error(`The world is broken: ${problem}`);
}

/** Fails unless something is an array of a type, of so many numbers from a list. */
function checkArray(
  what: string,
  array: unknown,
  length: number,
  Type: typeof Uint8Array | typeof Float64Array = Uint8Array,
): void {
  if (!(array instanceof Type) || array.length !== length) {
    fail(`${what} is not a ${Type.name} of ${length}`);
  }
  const isFine = Type === Float64Array
    ? Number.isFinite
    : (it: number) => it <= 1;
  const odd = (array as Float64Array).find((it) => !isFine(it));
  if (odd === undefined) return;
  const wanted = Type === Float64Array ? "finite numbers" : "0 and 1";
  fail(`${what} has ${odd}, expected ${wanted}`);
}

/** A seat with its spaces. */
interface Place {
  readonly name: string;
  readonly observationSpace: Space;
  readonly actionSpace: Space;
  readonly data: EnvData;
  readonly choices: number;
}

function placesOf(world: World): Place[] {
  const { numEnvs, seats, roles, spec } = world;
  if (!Number.isSafeInteger(numEnvs) || numEnvs < 1) {
    fail(`numEnvs is ${numEnvs}, expected a whole number of at least 1`);
  }
  const names = seats.map(({ name }) => name);
  if (names.length === 0 || new Set(names).size < names.length) {
    fail(`its seats are [${names}], expected names that differ`);
  }
  return seats.map(({ name, role = "player" }) => {
    const spaces = roles[role] ??
      fail(`seat ${name} has role ${role}, of which there are no spaces`);
    for (const kind of ["observationSpace", "actionSpace"] as const) {
      try {
        checkSpace(spaces[kind]);
      } catch (error) {
        fail(`the ${kind} of ${role} is none: ${(error as Error).message}`);
      }
    }
    const { observationSpace, actionSpace } = spaces;
    const isMasked = world.actionMasks !== undefined;
    if (isMasked && actionChoices(actionSpace) === undefined) {
      fail(`it masks actions of ${role} that are a ${actionSpace.type}`);
    }
    const data = new EnvData(observationSpace, spec);
    const choices = isMasked ? countChoices(actionSpace) : 0;
    return { name, observationSpace, actionSpace, data, choices };
  });
}

/** Worlds, what their seats see, and which seats' games have ended. */
class Course {
  readonly #world: World;
  readonly #places: readonly Place[];
  #streams: readonly SeededRandom[] = [];
  readonly #actions: Batch[];
  /** 1 for seats whose game has ended `[numEnvs, seats]`. */
  readonly #ended: Uint8Array;
  /** Saved state as it must stay. */
  #saved: { state: StateTree; text: string } | undefined;

  constructor(world: World) {
    this.#world = world;
    this.#places = placesOf(world);
    this.#actions = this.#places.map(({ actionSpace }) =>
      allocateBatch(actionSpace, world.numEnvs)
    );
    this.#ended = new Uint8Array(world.numEnvs * world.seats.length);
  }

  /** Begins a game in each world, from streams of a seed. */
  begin(seed: number): void {
    const { numEnvs } = this.#world;
    this.#streams = copySeeds(seed, numEnvs)
      .map((it) => new SeededRandom(it));
    for (let env = 0; env < numEnvs; env++) this.#begin(env);
  }

  #begin(env: number): void {
    const before = this.#views();
    this.#world.begin(env, this.#streams[env]);
    const seats = this.#places.length;
    this.#ended.fill(0, env * seats, (env + 1) * seats);
    this.#checkOthers(before, (it) => it === env, `world ${env} began a game`);
    if (!this.#isRunning(env)) {
      fail(`no seat is to act in world ${env} after begin`);
    }
  }

  #isRunning(env: number): boolean {
    const seats = this.#places.length;
    return this.#world.toAct.subarray(env * seats, (env + 1) * seats)
      .includes(1);
  }

  /** Writes what the seats of each world see and may do, and checks it. */
  #views(): string[] {
    const world = this.#world, { numEnvs, toAct } = world;
    const seats = this.#places.length;
    checkArray("toAct", toAct, numEnvs * seats);
    const views = Array.from({ length: numEnvs }, (_, env): unknown[] => [
      toAct.slice(env * seats, (env + 1) * seats),
    ]);
    this.#places.forEach((place, seat) => {
      const seen = cloneBatch(world.observe(seat));
      checkSize(place, seen, numEnvs);
      if (exactText(world.observe(seat)) !== exactText(seen)) {
        fail(
          `what seat ${place.name} sees changed when it was asked for again`,
        );
      }
      const masks = world.actionMasks?.(seat);
      views.forEach((view, row) => {
        const { observationSpace } = place;
        const value = readRow(observationSpace, { batch: seen, row });
        this.#checkSeen(place, value, row);
        const acts = toAct[row * seats + seat] === 1;
        view.push(value, this.#maskOf(place, masks, row, acts));
      });
    });
    return views.map(exactText);
  }

  #checkSeen({ name, data }: Place, value: unknown, env: number): void {
    try {
      data.check(value, "step");
    } catch (error) {
      if (!(error instanceof EnvDataError)) throw error;
      const { field, got, wanted } = error.fault;
      fail(
        `${field} of seat ${name} in world ${env} is ${got}, expected ${wanted}`,
      );
    }
  }

  /** Returns a row of masks, which allow something only where the seat is to act. */
  #maskOf(
    { name, choices, actionSpace }: Place,
    masks: Uint8Array | undefined,
    env: number,
    acts: boolean,
  ): Uint8Array | null {
    if (this.#world.actionMasks === undefined) return null;
    checkArray(
      `the action masks of seat ${name}`,
      masks,
      this.#world.numEnvs * choices,
    );
    const mask = masks!.slice(env * choices, (env + 1) * choices);
    const fault = maskFault(mask, choices) ??
      (acts ? forbiddenFault(mask, actionChoices(actionSpace)!) : undefined);
    const where = `of seat ${name} in world ${env}`;
    if (fault) fail(`${fault.field} ${where} is ${fault.got}`);
    if (!acts && mask.includes(1)) {
      fail(`the action mask ${where} allows actions, but it is not to act`);
    }
    return mask;
  }

  #checkOthers(
    before: readonly string[],
    isChanged: (env: number) => boolean,
    event: string,
  ): void {
    const odd = this.#views().findIndex((view, env) =>
      !isChanged(env) && view !== before[env]
    );
    if (odd >= 0) fail(`world ${odd} changed as ${event}`);
  }

  /**
   * Steps some of the worlds by random actions, begins games anew where they are over,
   * and returns a record of all.
   *
   * @param random Stream of the worlds to step and of the actions.
   * @param idle Stream of the actions of seats that are not to act.
   */
  play(random: SeededRandom, idle: SeededRandom, steps: number): string[] {
    const world = this.#world, record: string[] = [];
    for (let i = 0; i < steps; i++) {
      const which = Uint8Array.from(
        { length: world.numEnvs },
        () => Number(random.uniform() < 0.7),
      );
      this.#act(random, idle);
      const before = this.#views(), { toAct } = world;
      const given = exactText([this.#actions, which] as never);
      const step = world.step(this.#actions, which);
      if (exactText([this.#actions, which] as never) !== given) {
        fail("step changed its actions or which");
      }
      this.#checkStep(step, which, toAct.length);
      this.#checkOthers(before, (it) => which[it] === 1, "others were stepped");
      const saved = this.#saved;
      if (saved && exactText(saved.state) !== saved.text) {
        fail("a saved state changed with later steps: it must be a copy");
      }
      const { rewards, terminated, truncated } = step;
      record.push(
        exactText([which, rewards, terminated, truncated]),
        ...this.#views(),
      );
      for (let env = 0; env < world.numEnvs; env++) {
        if (!this.#isRunning(env)) this.#begin(env);
      }
    }
    return record;
  }

  /** Chooses allowed actions, and any others for seats that are not to act. */
  #act(random: SeededRandom, idle: SeededRandom): void {
    const { numEnvs, seats } = this.#world;
    const toAct = new Uint8Array(numEnvs * seats.length).fill(1);
    const { roles } = this.#world, everyone = { numEnvs, seats, roles, toAct };
    this.#actions.forEach((actions, seat) => {
      randomPlayer(everyone as unknown as World, {
        seat,
        actions,
        random: idle,
      });
      randomPlayer(this.#world, { seat, actions, random });
    });
  }

  #checkStep(step: WorldStep, which: Uint8Array, length: number): void {
    const { rewards, terminated, truncated } = step;
    checkArray("rewards", rewards, length, Float64Array);
    checkArray("terminated", terminated, length);
    checkArray("truncated", truncated, length);
    checkArray("toAct", this.#world.toAct, length);
    const seats = this.#places.length;
    for (let at = 0; at < length; at++) {
      const env = Math.floor(at / seats);
      const where = `seat ${this.#places[at % seats].name} in world ${env}`;
      const ends = terminated[at] | truncated[at];
      const isStill = ends === 0 && rewards[at] === 0;
      if (which[env] === 0 && !isStill) {
        fail(`${where} has a reward or an end, but the world did not step`);
      }
      if (this.#ended[at] === 1 && !isStill) {
        fail(`${where} has a reward or an end after its game has ended`);
      }
      this.#ended[at] |= ends;
      const acts = this.#world.toAct[at] === 1;
      if (acts && this.#ended[at] === 1) {
        fail(`${where} is to act after its game has ended`);
      }
      if (!acts && this.#ended[at] === 0 && !this.#isRunning(env)) {
        fail(
          `world ${env} is over, but ${where} was neither terminated nor truncated`,
        );
      }
    }
  }

  /** Saves worlds, streams and ends, and returns what restores them. */
  save(): () => void {
    const world = this.#world, state = world.save();
    const fault = snapshotFault(state);
    if (fault) {
      fail(`${fault.field} is ${fault.got}, expected ${fault.wanted}`);
    }
    const text = exactText(state), views = exactText(this.#views());
    const streams = this.#streams.map((it) => it.save());
    const ended = this.#ended.slice();
    this.#saved = { state, text };
    return () => {
      world.load(state, this.#streams);
      this.#streams.forEach((stream, env) => stream.load(streams[env]));
      this.#ended.set(ended);
      if (exactText(this.#views()) !== views) {
        fail("after a saved state was loaded, the seats see something else");
      }
      if (exactText(world.save()) !== text) {
        fail("after a saved state was loaded, another one is saved");
      }
    };
  }
}

/** Throws where the observations of a seat have more or fewer numbers than worlds. */
function checkSize(
  { name, observationSpace }: Place,
  seen: Batch,
  numEnvs: number,
): void {
  const wanted = allocateBatch(observationSpace, numEnvs);
  if (!ArrayBuffer.isView(seen) || !ArrayBuffer.isView(wanted)) return;
  if (seen.length === wanted.length) return;
  fail(
    `observe of seat ${name} returned ${seen.length} numbers, expected ${wanted.length} of ${numEnvs} worlds`,
  );
}

/**
 * Checks that worlds keep the promises of `World`, by random games: each world steps
 * alone, what seats see is of their spaces, seats act until their game ends and not
 * after, masks allow something to who is to act and nothing to others, whose actions do
 * not matter; the same streams and actions give the same games, also after a saved
 * state was loaded. Worlds whose games are over begin anew.
 *
 * @param world Worlds to check; all their games begin anew. Two or more show if one
 * changes another.
 * @param options Thoroughness.
 * @throws {Error} With one line about the broken promise.
 * @example
 * ```ts
 * import { checkWorld, TicTacToe } from "@bellman/envs/games";
 *
 * checkWorld(new TicTacToe({ numEnvs: 3 }));
 * ```
 */
export function checkWorld(
  world: World,
  options: CheckWorldOptions = {},
): void {
  const given = checkOptions("a check of worlds", options, OPTIONS);
  const { steps = 200, seed = 0, render = true } = given;
  const course = new Course(world);
  // Actions of seats that are not to act come from another stream each time.
  let plays = 0;
  const play = (seed: number) => {
    const [random, idle] = [seed, ++plays].map((it) => new SeededRandom(it));
    return course.play(random, idle, steps).join("\n");
  };
  course.begin(seed);
  const first = play(seed + 1);
  course.begin(seed);
  if (play(seed + 1) !== first) {
    fail(
      "the same streams and actions gave two different courses (those of seats that are not to act must not matter)",
    );
  }
  const restore = course.save();
  const next = play(seed + 2);
  restore();
  if (play(seed + 2) !== next) {
    fail(
      "after a saved state was loaded, the same actions gave another course",
    );
  }
  restore();
  const image = render ? world.render(world.numEnvs - 1) : undefined;
  const fault = image && pictureFault(image);
  if (fault) fail(fault);
}
