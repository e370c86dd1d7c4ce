import { checkOptions, FLAG, FUNCTION, NUMBER } from "@bellman/files/options";
import type {
  BoxArray,
  DictSpace,
  Env,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { countChoices, forbiddenFault, maskFault } from "./_action_masks.ts";
import { EnvData } from "./_env_data.ts";
import { checkSpace } from "./spaces/check_space.ts";
import { EnvDataError, type EnvDataFault } from "./env_data_error.ts";
import {
  GOAL_PARTS,
  goalFault,
  type GoalFunctionName,
  goalFunctionsOf,
} from "./_goals.ts";
import { SeededRandom } from "./random.ts";
import { restoreNow, snapshotFault } from "./snapshot.ts";
import { allocateBatch, writeRow } from "./spaces/batch.ts";
import { actionChoices } from "./spaces/choices.ts";
import { describeSpace, sample } from "./spaces/values.ts";

/** Thoroughness of {@linkcode checkEnv}. */
export interface CheckEnvOptions {
  /**
   * Steps of each comparison.
   *
   * @default 200
   */
  steps?: number;
  /**
   * Steps that are played at most, by random actions and by actions that are repeated,
   * to find numbers that leave their bounds late, such as a speed that always grows.
   *
   * @default 10_000
   */
  playSteps?: number;
  /**
   * Seconds after which no more steps are played.
   *
   * @default 2
   */
  playSeconds?: number;
  /**
   * Clock in milliseconds.
   *
   * @default () => performance.now()
   */
  now?: () => number;
  /**
   * Seed of the environment and of the actions.
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

/**
 * Writes plain data as a text that is the same only for exactly the same data:
 * unlike JSON it separates NaN, the infinities, -0 and the types of arrays.
 *
 * @throws {TypeError} If it is not plain data.
 */
export function exactText(value: unknown): string {
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" || typeof value === "boolean") {
    return `${value}`;
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(exactText)}]`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const numbers = [...value as Float64Array].map(exactText);
    return `${value.constructor.name}[${numbers}]`;
  }
  const prototype = typeof value === "object" && Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    const kind = prototype === false
      ? typeof value
      : prototype.constructor?.name ?? "an object";
    throw new TypeError(`Cannot compare ${kind}: expected plain data`);
  }
  const entries = Object.entries(value as Record<string, unknown>)
    .map(([key, part]) => `${JSON.stringify(key)}:${exactText(part)}`);
  return `{${entries}}`;
}

class EnvCheckError extends Error {
  override name = "EnvCheckError";
}

function fail(problem: string): never {
  throw new EnvCheckError(`The environment is broken: ${problem}`);
}

function failOf(
  { field, got, wanted }: EnvDataFault,
  after?: "reset" | "step",
): never {
  const when = after === undefined ? "" : ` after a ${after}`;
  fail(`${field}${when} is ${got}, expected ${wanted}`);
}

/** Runs a check of the environment's data, and fails with the fault it finds. */
function guard(check: () => void, after?: "reset" | "step"): void {
  try {
    check();
  } catch (error) {
    if (error instanceof EnvDataError) failOf(error.fault, after);
    throw error;
  }
}

function checkSpaces(env: Env): void {
  for (const name of ["observationSpace", "actionSpace"] as const) {
    try {
      checkSpace(env[name]);
    } catch (error) {
      fail(`its ${name} is none: ${(error as Error).message}`);
    }
  }
  if (env.actionMasks === undefined) return;
  if (actionChoices(env.actionSpace) !== undefined) return;
  fail(
    `it masks actions that are a ${env.actionSpace.type}, expected discrete, multiDiscrete or multiBinary ones`,
  );
}

/** True where two results of a function of goals are the same but for rounding. */
function near(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(a), Math.abs(b));
}

/** Goals of the steps of an environment, held to its functions of them. */
class Goals {
  readonly #env: Env;
  readonly #names: readonly GoalFunctionName[];
  readonly #spaces: Readonly<Record<string, Space>>;
  readonly #achieved: SpaceValue[] = [];
  readonly #desired: SpaceValue[] = [];

  constructor(env: Env) {
    this.#env = env;
    this.#names = goalFunctionsOf(env);
    const { spaces = {} } = env.observationSpace as Partial<DictSpace>;
    this.#spaces = spaces as Readonly<Record<string, Space>>;
    if (this.#names.length > 0) this.#checkParts();
  }

  #checkParts(): void {
    if (this.#env.computeReward === undefined) {
      fail("it has computeTerminated, expected computeReward beside it");
    }
    const spaces = this.#spaces;
    for (const part of GOAL_PARTS) {
      if (Object.hasOwn(spaces, part)) continue;
      fail(
        `it has computeReward, but its observations have no ${part}: expected a dict of ${
          GOAL_PARTS.join(", ")
        }`,
      );
    }
    const [achieved, desired] = [spaces.achieved_goal, spaces.desired_goal];
    const [one, other] = [achieved, desired].map((it) => allocateBatch(it, 1));
    const isAlike = ArrayBuffer.isView(one) && ArrayBuffer.isView(other) &&
      one.constructor === other.constructor &&
      one.byteLength === other.byteLength;
    if (isAlike) return;
    fail(
      `its desired_goal is ${describeSpace(desired)}, expected ${
        describeSpace(achieved)
      } as achieved_goal is`,
    );
  }

  /** Holds a step to what follows from its goals. */
  see({ observation, reward, terminated }: StepResult): void {
    if (this.#names.length === 0) return;
    const { achieved_goal, desired_goal } = observation as Record<
      string,
      SpaceValue
    >;
    this.#achieved.push(achieved_goal);
    this.#desired.push(desired_goal);
    for (const name of this.#names) {
      const [got] = this.#judge(name, [achieved_goal], [desired_goal]);
      const wanted = name === "computeReward" ? reward : Number(terminated);
      if (near(got, wanted)) continue;
      fail(
        `${name} of the goals of a step is ${got}, expected ${
          name === "computeReward"
            ? `its reward, ${reward}`
            : `${wanted} as the step says terminated ${terminated}`
        }`,
      );
    }
  }

  /** Checks results for many goals at once, some of which must differ. */
  check(): void {
    if (this.#achieved.length === 0) return;
    const achieved = this.#achieved.map(() => this.#achieved.at(-1)!);
    for (const name of this.#names) {
      const all = [...this.#achieved, ...achieved, ...achieved];
      const desired = [...this.#desired, ...this.#desired, ...this.#achieved];
      const atOnce = this.#judge(name, all, desired);
      all.forEach((one, i) => {
        const [alone] = this.#judge(name, [one], [desired[i]]);
        if (near(atOnce[i], alone)) return;
        fail(
          `${name} of ${all.length} rows at once gives row ${i} ${
            atOnce[i]
          }, expected ${alone} as of the row alone`,
        );
      });
      if (name !== "computeReward") continue;
      const first = atOnce[achieved.length];
      if (atOnce.slice(achieved.length).some((it) => it !== first)) continue;
      fail(
        `computeReward is ${first} whatever goal is desired: hindsight cannot learn from it`,
      );
    }
  }

  #judge(
    name: GoalFunctionName,
    achieved: readonly SpaceValue[],
    desired: readonly SpaceValue[],
  ): number[] {
    const rows = (space: Space, values: readonly SpaceValue[]) => {
      const batch = allocateBatch(space, values.length);
      values.forEach((it, row) => writeRow(space, it, { batch, row }));
      return batch as BoxArray;
    };
    const { achieved_goal, desired_goal } = this.#spaces;
    const results: unknown = this.#env[name]!(
      rows(achieved_goal, achieved),
      rows(desired_goal, desired),
    );
    const fault = goalFault(name, results, achieved.length);
    if (fault !== undefined) fail(fault);
    return Array.from(results as ArrayLike<number>, Number);
  }
}

/** Most letters of an observation or action in a message. */
const SHOWN = 80;

function shown(value: SpaceValue): string {
  const text = exactText(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}

/** An environment, the step of its episode, and what it shows there. */
class Course {
  readonly env: Env;
  readonly goals: Goals;
  step = 0;
  seen: SpaceValue = 0;
  readonly #data: EnvData;

  constructor(env: Env) {
    this.env = env;
    this.goals = new Goals(env);
    this.#data = new EnvData(env.observationSpace, env.spec);
  }

  /** Checks the result of a step. */
  checkResult(result: StepResult): void {
    guard(() => {
      this.#data.result(result);
      this.#data.check(result.observation, "step");
    }, "step");
  }

  /** Starts an episode and checks its first observation. */
  reset(options?: { seed: number }): SpaceValue {
    this.seen = this.env.reset(options);
    this.step = 0;
    guard(() => this.#data.check(this.seen, "reset"), "reset");
    this.masks();
    return this.seen;
  }

  /** Takes a step by one of the actions that are allowed, or by a given one. */
  act(
    random: SeededRandom,
    action: SpaceValue = sample(this.env.actionSpace, random, this.masks()),
  ): StepResult {
    const result = this.env.step(action);
    this.checkResult(result);
    this.goals.see(result);
    this.step++;
    this.seen = result.observation;
    this.masks(result.terminated);
    return result;
  }

  /**
   * Returns the actions that are allowed, if some are masked, and checks them: none
   * need be at a termination, which no action follows.
   */
  masks(terminated = false): Uint8Array | undefined {
    const { env } = this;
    if (env.actionMasks === undefined) return undefined;
    const masks: unknown = env.actionMasks();
    const fault = maskFault(masks, countChoices(env.actionSpace));
    if (fault) this.#failOf(fault);
    const first = (masks as Uint8Array).slice();
    const text = exactText(first);
    if (exactText(env.actionMasks()) !== text) {
      fail(
        `its action mask ${this.#place} changed when it was asked for again`,
      );
    }
    const none = forbiddenFault(first, actionChoices(env.actionSpace)!);
    if (none && !terminated) this.#failOf(none);
    return none ? undefined : first;
  }

  get #place(): string {
    return `at step ${this.step} of an episode, for the observation ${
      shown(this.seen)
    },`;
  }

  #failOf({ field, got, wanted }: EnvDataFault): never {
    fail(`${field} ${this.#place} is ${got}, expected ${wanted}`);
  }
}

/** Steps with random actions, resetting at ends, and returns all results. */
function run(course: Course, actions: SeededRandom, steps: number): string[] {
  const record: string[] = [exactText(course.masks() ?? null)];
  let last: SpaceValue | null = null, text = exactText(null);
  const keep = (observation: SpaceValue): void => {
    // The caller owns each observation: the next step must not change it.
    if (exactText(last) !== text) {
      fail("an observation changed with the next step: it must be a copy");
    }
    last = observation;
    text = exactText(observation);
  };
  for (let i = 0; i < steps; i++) {
    const result = course.act(actions);
    keep(result.observation);
    const { reward, terminated, truncated } = result;
    const masks = course.masks(terminated) ?? null;
    record.push(exactText([text, reward, terminated, truncated, masks]));
    if (!terminated && !truncated) continue;
    keep(course.reset());
    record.push(text);
  }
  return record;
}

function same(a: string[], b: string[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function checkSeeding(
  course: Course,
  { seed, steps }: Required<CheckEnvOptions>,
): void {
  const episode = (): string[] => {
    const text = exactText(course.reset({ seed }));
    return [text, ...run(course, new SeededRandom(seed), steps)];
  };
  if (!same(episode(), episode())) {
    fail("the same seed and actions gave two different courses");
  }
}

function snapshotText(snapshot: StateTree): string {
  const fault = snapshotFault(snapshot);
  return fault ? failOf(fault) : exactText(snapshot);
}

function checkSnapshot(
  course: Course,
  { seed, steps }: Required<CheckEnvOptions>,
): void {
  const { env } = course;
  course.reset({ seed });
  run(course, new SeededRandom(seed + 1), Math.ceil(steps / 2));
  const snapshot = env.save(), { step, seen } = course;
  const text = snapshotText(snapshot);
  const first = run(course, new SeededRandom(seed + 2), steps);
  if (snapshotText(snapshot) !== text) {
    fail("a snapshot changed with later steps: it must be a copy");
  }
  guard(() => restoreNow(env, snapshot, {}));
  Object.assign(course, { step, seen });
  if (!same(first, run(course, new SeededRandom(seed + 2), steps))) {
    fail("after restoring a snapshot, the same actions gave another course");
  }
  if (snapshotText(snapshot) !== text) {
    fail("a snapshot changed after it was restored: restoring must copy it");
  }
}

/**
 * Checks that nothing follows a termination: a step either throws or returns the
 * same again.
 */
function checkEnd(
  course: Course,
  { seed, steps }: Required<CheckEnvOptions>,
): void {
  course.reset({ seed });
  const random = new SeededRandom(seed);
  for (let i = 0; i < steps; i++) {
    const result = course.act(random);
    if (result.terminated) return checkStepAfterEnd(course, random);
    if (result.truncated) course.reset();
  }
}

function checkStepAfterEnd(course: Course, random: SeededRandom): void {
  const { env } = course;
  const action = sample(env.actionSpace, random, course.masks(true));
  let result: StepResult;
  try {
    result = env.step(action);
  } catch (error) {
    if (error instanceof Error && !error.message.includes("\n")) return;
    fail(
      "a step after the end throws something else than an error of one line",
    );
  }
  if (!result.terminated) {
    fail("an episode goes on after its termination: refuse steps until reset");
  }
  try {
    course.checkResult(result);
  } catch (error) {
    fail(
      `what a step after the termination returns is no result (${
        (error as Error).message.replace(/^The environment is broken: /, "")
      }): refuse steps until reset`,
    );
  }
}

/** Steps that an action is repeated for, in the second part of the long play. */
const REPEATED = 50;
/** Episodes without an end in its third part, each of one action. */
const CONSTANT = 4;

/**
 * Plays for long: a third of the steps by random actions, a third by actions that are
 * repeated for a while, a third by one action in each episode. Masked actions are
 * random in all of them.
 */
function checkLongPlay(
  course: Course,
  { seed, playSteps, playSeconds, now }: Required<CheckEnvOptions>,
): void {
  const random = new SeededRandom(seed + 3), end = now() + 1000 * playSeconds;
  const third = Math.ceil(playSteps / 3);
  const constant = Math.ceil(third / CONSTANT);
  const { actionSpace, actionMasks } = course.env;
  let action: SpaceValue | undefined, left = 0;
  course.reset({ seed });
  for (let i = 0; i < playSteps && now() < end; i++, left--) {
    // States that nothing leads out of are left.
    if (i === third || (i > 2 * third && left <= 0)) course.reset();
    if (left <= 0 && actionMasks === undefined) {
      action = sample(actionSpace, random);
      if (i < third) left = 1;
      else if (i < 2 * third) left = 1 + random.integer(REPEATED);
      else left = constant;
    }
    const { terminated, truncated } = stepLate(course, random, action);
    if (!terminated && !truncated) continue;
    course.reset();
    left = 0;
  }
}

/** Takes a step; what is wrong with it comes with its place. */
function stepLate(
  course: Course,
  random: SeededRandom,
  action: SpaceValue | undefined,
): StepResult {
  try {
    return course.act(random, action);
  } catch (error) {
    if (!(error instanceof EnvCheckError)) throw error;
    const by = action === undefined ? "" : `, by the action ${shown(action)}`;
    throw new EnvCheckError(
      `${error.message}; at step ${course.step + 1} of an episode${by}`,
    );
  }
}

/** Returns the fault of a picture, if it has one. */
export function pictureFault(
  { width, height, data: { length } }: RgbImage,
): string | undefined {
  const isWhole = (it: number): boolean => Number.isInteger(it) && it > 0;
  if (!isWhole(width) || !isWhole(height)) {
    return `its picture is ${width} by ${height} pixels`;
  }
  const size = 3 * width * height;
  return length === size
    ? undefined
    : `its picture of ${width} by ${height} has ${length} bytes, not ${size}`;
}

/**
 * Checks that an environment keeps its promises: observations and rewards are
 * of its spaces and belong to the caller, a seed fixes its course, a snapshot
 * restores it exactly, nothing follows a termination, its picture has the right
 * size. One with goals is held to its functions of them. One that masks actions is
 * stepped by allowed actions only, and always allows one. It is played for long by
 * random and by repeated actions, for at most two seconds. `checkWorld` of
 * `@bellman/envs/games` checks a `World`.
 *
 * @param env Environment to check; it is stepped and reset.
 * @param options Thoroughness.
 * @throws {Error} With one line about the broken promise.
 * @throws {TypeError} If it is a `World`.
 * @example
 * ```ts
 * import { checkEnv, make } from "@bellman/envs";
 *
 * checkEnv(make("CartPole-v1"));
 * ```
 */
export function checkEnv(env: Env, options: CheckEnvOptions = {}): void {
  const kinds = {
    ...{ steps: NUMBER, playSteps: NUMBER, playSeconds: NUMBER },
    ...{ seed: NUMBER, render: FLAG, now: FUNCTION },
  };
  const given = checkOptions("a check of an environment", options, kinds);
  const all = {
    ...{ steps: 200, playSteps: 10_000, playSeconds: 2, seed: 0, render: true },
    now: () => performance.now(),
    ...given,
  };
  if ("seats" in env) {
    throw new TypeError(
      "Cannot check worlds of several seats as one environment: expected checkWorld of @bellman/envs/games",
    );
  }
  checkSpaces(env);
  const course = new Course(env);
  checkSeeding(course, all);
  checkSnapshot(course, all);
  checkEnd(course, all);
  course.goals.check();
  checkLongPlay(course, all);
  const fault = all.render ? pictureFault(env.render()) : undefined;
  if (fault !== undefined) fail(fault);
}
