/** Checks of the data that environments return, before it enters our arrays. */
import type {
  Batch,
  BoxArray,
  Env,
  EnvSpec,
  EpisodeStatistics,
  Space,
  StepResult,
  VecStep,
} from "@bellman/types";
import {
  describePlace,
  EnvDataError,
  type EnvDataFault,
  type EnvDataPlace,
  faultOf,
  isThenable,
  withArticle,
} from "./env_data_error.ts";
import {
  allocateArray,
  areFinite,
  boundIn,
  elementCount,
} from "./spaces/arrays.ts";
import { checkSpace } from "./spaces/check_space.ts";
import { contains, describeSpace } from "./spaces/values.ts";

/** Excess over a bound, relative to it, that rounding to 32 bits may cause. */
const ROUNDING = 1e-6;

/** Writes a value into its row of a batch, if there is one, or returns its fault. */
type Writer = (
  value: unknown,
  batch: Batch | undefined,
  row: number,
) => EnvDataFault | undefined;

/** Returns the least and the greatest allowed number of each element. */
function allowedIn(
  space: Space,
  looseBounds: boolean,
): [low: Float64Array, high: Float64Array] {
  const size = elementCount(space);
  // Numbers without a bound are still finite.
  const low = new Float64Array(size).fill(-Number.MAX_VALUE);
  const high = new Float64Array(size).fill(Number.MAX_VALUE);
  if (looseBounds && space.type === "box") return [low, high];
  const isFloat = space.type === "box" && space.dtype.startsWith("float");
  const slack = (bound: number) =>
    isFloat ? ROUNDING * Math.max(1, Math.abs(bound)) : 0;
  for (let i = 0; i < size; i++) {
    const least = boundIn(space, "low", i), most = boundIn(space, "high", i);
    low[i] = Math.max(low[i], least - slack(least));
    high[i] = Math.min(high[i], most + slack(most));
  }
  return [low, high];
}

function outside(space: Space, number: number, i: number): EnvDataFault {
  const low = boundIn(space, "low", i), high = boundIn(space, "high", i);
  const isBounded = Number.isFinite(number) &&
    (Number.isFinite(low) || Number.isFinite(high));
  const unless = space.type === "box"
    ? ", unless register says looseBounds: true"
    : "";
  const wanted = isBounded
    ? `a number from ${low} to ${high}${unless}`
    : "a finite number";
  return faultOf(`[${i}]`, number, wanted);
}

function arrayWriter(space: Space, looseBounds: boolean): Writer {
  const size = elementCount(space), like = allocateArray(space, 0);
  const Type = like.constructor as abstract new () => BoxArray;
  const [low, high] = allowedIn(space, looseBounds);
  const takesAll = like instanceof Uint8Array &&
    low.every((it) => it <= 0) && high.every((it) => it >= 255);
  return (value, batch, row) => {
    if (!(value instanceof Type) || value.length !== size) {
      return faultOf("", value, `${withArticle(Type.name)} of ${size}`);
    }
    const to = batch as BoxArray | undefined, at = row * size;
    if (takesAll) {
      to?.set(value, at);
      return;
    }
    for (let i = 0; i < size; i++) {
      const number = value[i];
      if (!(number >= low[i] && number <= high[i])) {
        return outside(space, number, i);
      }
      if (to !== undefined) to[at + i] = number;
    }
  };
}

function numberWriter(space: Space): Writer {
  return (value, batch, row) => {
    if (!contains(space, value)) {
      return faultOf("", value, describeSpace(space));
    }
    if (batch !== undefined) (batch as BoxArray)[row] = value as number;
  };
}

function partsWriter(
  space: Space & { type: "dict" | "tuple" },
  looseBounds: boolean,
): Writer {
  const writers = Object.entries<Space>({ ...space.spaces })
    .map(([key, inner]) => [key, writerOf(inner, looseBounds)] as const);
  return (value, batch, row) => {
    const isNest = typeof value === "object" && value !== null &&
      Array.isArray(value) === (space.type === "tuple") &&
      Object.keys(value).length === writers.length;
    if (!isNest) return faultOf("", value, describeSpace(space));
    for (const [key, write] of writers) {
      const inner = (value as Record<string, unknown>)[key];
      const into = (batch as Record<string, Batch> | undefined)?.[key];
      const fault = write(inner, into, row);
      if (fault) return { ...fault, field: `[${key}]${fault.field}` };
    }
  };
}

function writerOf(space: Space, looseBounds: boolean): Writer {
  if (space.type === "discrete") return numberWriter(space);
  return space.type === "dict" || space.type === "tuple"
    ? partsWriter(space, looseBounds)
    : arrayWriter(space, looseBounds);
}

/** Checks the data that environments return and writes it into batches. */
export class EnvData {
  readonly #spec: Partial<EnvSpec> | undefined;
  readonly #write: Writer;

  /**
   * Prepares the checks of a space.
   *
   * @param space Space of the observations.
   * @param spec Name of the environment, and whether its bounds are loose.
   */
  constructor(space: Space, spec?: Partial<EnvSpec>) {
    this.#spec = spec;
    this.#write = writerOf(space, spec?.looseBounds ?? false);
  }

  /**
   * Checks an observation and writes it into its row of a batch.
   *
   * @param step Step of the episode that it belongs to, if known; 0 for a reset.
   */
  write(value: unknown, batch: Batch, row: number, step?: number): void {
    const fault = this.#write(value, batch, row);
    if (fault) this.#refuse(value, fault, { copy: row, step });
  }

  /** Checks the observation of a single environment, after a reset or a step. */
  check(value: unknown, after: "reset" | "step"): void {
    const fault = this.#write(value, undefined, 0);
    if (fault) this.#refuse(value, fault, after === "reset" ? { step: 0 } : {});
  }

  #refuse(value: unknown, fault: EnvDataFault, place: EnvDataPlace): never {
    const field = fault.field === ""
      ? "the observation"
      : `observation${fault.field}`;
    const method = place.step === 0 ? "reset" : "step";
    const wanted = isThenable(value)
      ? `${fault.wanted}: ${method} must not be async`
      : fault.wanted;
    throw this.error({ ...fault, field, wanted }, place);
  }

  /** Checks a step's result apart from its observation. */
  result(given: unknown, copy?: number, step?: number): StepResult {
    const fault = resultFault(given);
    if (fault) throw this.error(fault, { copy, step });
    const { info } = given as StepResult;
    if (Array.isArray(info?.episodes)) {
      this.#checkEpisodes(info.episodes, { copy, step });
    }
    return given as StepResult;
  }

  #checkEpisodes(episodes: readonly unknown[], place: EnvDataPlace): void {
    episodes.forEach((given, i) => {
      const fault = episodeFault(given);
      if (fault === undefined) return;
      const field = `info.episodes[${i}]${fault.field}`;
      throw this.error({ ...fault, field }, place);
    });
  }

  /** Makes an error about the environment. */
  error(fault: EnvDataFault, place: EnvDataPlace): EnvDataError {
    return new EnvDataError(fault, { id: this.#spec?.id, ...place });
  }
}

/** Finds the fault of a step's result, apart from its observation. */
function resultFault(given: unknown): EnvDataFault | undefined {
  const wanted = "a record of observation, reward, terminated, truncated";
  if (typeof given !== "object" || given === null) {
    return faultOf("the result of step", given, wanted);
  }
  const { reward, terminated, truncated } = given as StepResult;
  if (!Number.isFinite(reward)) {
    return isThenable(given)
      ? faultOf(
        "the result of step",
        given,
        `${wanted}: step must not be async`,
      )
      : faultOf("the reward", reward, "a finite number");
  }
  if (typeof terminated !== "boolean") {
    return faultOf("'terminated'", terminated, "true or false");
  }
  if (typeof truncated !== "boolean") {
    return faultOf("'truncated'", truncated, "true or false");
  }
}

/** Finds the fault of the statistics of an episode. */
function episodeFault(given: unknown): EnvDataFault | undefined {
  if (typeof given !== "object" || given === null) {
    return faultOf("", given, "a record of return, length, terminated");
  }
  const { return: sum, length, terminated, lifeReturns } =
    given as EpisodeStatistics;
  if (!Number.isFinite(sum)) return faultOf(".return", sum, "a finite number");
  if (!Number.isSafeInteger(length) || length < 1) {
    return faultOf(".length", length, "a whole number of at least 1");
  }
  if (typeof terminated !== "boolean") {
    return faultOf(".terminated", terminated, "true or false");
  }
  if (lifeReturns === undefined) return undefined;
  return Array.isArray(lifeReturns) && lifeReturns.every(Number.isFinite)
    ? undefined
    : faultOf(".lifeReturns", lifeReturns, "a list of finite numbers, or none");
}

/**
 * Throws unless the numbers that other threads or processes returned are finite;
 * their arrays fix types and shapes.
 */
export function checkFinite(
  { observations, rewards, finalObservations, ...ends }: Partial<VecStep>,
  { id, numEnvs }: { id?: string; numEnvs: number },
): void {
  const odd = firstOdd("the reward", rewards, { numEnvs }) ??
    firstOdd("observation", observations, { numEnvs }) ??
    firstOdd("final observation", finalObservations, { numEnvs, ends });
  if (odd === undefined) return;
  const { name, batch, at } = odd, size = batch.length / numEnvs;
  const field = batch === rewards ? name : `${name}[${at % size}]`;
  const copy = Math.floor(at / size);
  const fault = faultOf(field, batch[at], "a finite number");
  throw new EnvDataError(fault, { id, copy });
}

/**
 * Finds the first number of a batch that is not finite; with `ends`, in rows of
 * episodes that ended, as others may hold anything.
 */
function firstOdd(
  name: string,
  batch: Batch | undefined,
  rows: { numEnvs: number; ends?: Partial<VecStep> },
): { name: string; batch: BoxArray; at: number } | undefined {
  if (batch === undefined) return undefined;
  if (ArrayBuffer.isView(batch)) {
    const isFloat = batch instanceof Float32Array ||
      batch instanceof Float64Array;
    if (!isFloat || areFinite(batch)) return undefined;
    const { numEnvs, ends } = rows, size = batch.length / numEnvs;
    const at = batch.findIndex((it, i) => {
      const row = Math.floor(i / size);
      const hasEnded = ends?.terminated?.[row] || ends?.truncated?.[row];
      return (!ends || !!hasEnded) && !Number.isFinite(it);
    });
    return at < 0 ? undefined : { name, batch, at };
  }
  for (const key in batch) {
    const inner = (batch as Record<string, Batch>)[key];
    const odd = firstOdd(`${name}[${key}]`, inner, rows);
    if (odd) return odd;
  }
}

/** Finds the fault of a batch that is not of the same arrays as another one. */
export function batchFault(
  field: string,
  batch: unknown,
  like: Batch,
): EnvDataFault | undefined {
  if (ArrayBuffer.isView(like)) {
    const { constructor: Type, length } = like;
    if (batch instanceof Type && (batch as BoxArray).length === length) {
      return undefined;
    }
    const why = isThenable(batch) ? ": reset and step must not be async" : "";
    const wanted = `${withArticle(Type.name)} of ${length}${why}`;
    return faultOf(field, batch, wanted);
  }
  for (const key in like) {
    const inner = (batch as Record<string, unknown> | null | undefined)?.[key];
    const expected = (like as Record<string, Batch>)[key];
    const fault = batchFault(`${field}[${key}]`, inner, expected);
    if (fault) return fault;
  }
}

/**
 * Throws unless the spaces of an environment are sound.
 *
 * @param copy Index of the environment.
 */
export function checkEnvSpaces(env: Env, copy?: number): void {
  for (const name of ["observationSpace", "actionSpace"] as const) {
    try {
      checkSpace(env[name]);
    } catch (error) {
      const { message } = error as Error;
      const place = describePlace({ id: env.spec?.id, copy });
      throw new TypeError(`Cannot use the ${name} of ${place}: ${message}`);
    }
  }
}
