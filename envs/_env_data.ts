/** Checks of the data that environments return, where it enters arrays of ours. */
import { allocateArray, boundIn, elementCount } from "./spaces/arrays.ts";
import { areFinite } from "./spaces/_action_rows.ts";
import { checkSpace } from "./spaces/constructors.ts";
import { describeSpace } from "./spaces/values.ts";
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
  describe,
  describePlace,
  EnvDataError,
  type EnvDataFault,
  type EnvDataPlace,
  isThenable,
  withArticle,
} from "./env_data_error.ts";

/** Excess over a bound that rounding to 32 bits may cause, relative to it. */
const ROUNDING = 1e-6;

/** A number or an array of an observation, or a nest of them. */
interface Part {
  /** Writes a value into its row of a batch, if there is one, or says what is wrong with it. */
  write(
    value: unknown,
    batch: Batch | undefined,
    row: number,
  ): EnvDataFault | undefined;
}

/** Least and greatest allowed number of each element, rounding included. */
function allowedIn(
  space: Space,
  { size, looseBounds }: { size: number; looseBounds: boolean },
): [low: Float64Array, high: Float64Array] {
  const low = new Float64Array(size), high = new Float64Array(size);
  const isFloat = space.type === "box" && space.dtype.startsWith("float");
  for (let i = 0; i < size; i++) {
    const [least, most] = boundsOf(space, i);
    const slack = (bound: number) =>
      isFloat ? ROUNDING * Math.max(1, Math.abs(bound)) : 0;
    const isLoose = looseBounds && space.type === "box";
    // Numbers without a bound are still finite.
    low[i] = isLoose
      ? -Number.MAX_VALUE
      : Math.max(least - slack(least), -Number.MAX_VALUE);
    high[i] = isLoose
      ? Number.MAX_VALUE
      : Math.min(most + slack(most), Number.MAX_VALUE);
  }
  return [low, high];
}

function boundsOf(space: Space, i: number): [low: number, high: number] {
  switch (space.type) {
    case "box":
      return [boundIn(space, "low", i), boundIn(space, "high", i)];
    case "discrete": {
      const { start = 0, n } = space;
      return [start, start + n - 1];
    }
    case "multiDiscrete":
      return [0, space.nvec[i] - 1];
    default:
      return [0, 1];
  }
}

class ArrayPart implements Part {
  readonly #space: Space;
  readonly #size: number;
  readonly #Type: abstract new () => BoxArray;
  /** None where all numbers of the type are allowed. */
  readonly #allowed: readonly [Float64Array, Float64Array] | undefined;

  constructor(space: Space, looseBounds: boolean) {
    const size = elementCount(space);
    const [low, high] = allowedIn(space, { size, looseBounds });
    const like = allocateArray(space, 0);
    const takesAll = like instanceof Uint8Array &&
      low.every((it) => it <= 0) && high.every((it) => it >= 255);
    this.#space = space;
    this.#size = size;
    this.#Type = like.constructor as abstract new () => BoxArray;
    this.#allowed = takesAll ? undefined : [low, high];
  }

  write(
    value: unknown,
    batch: Batch | undefined,
    row: number,
  ): EnvDataFault | undefined {
    const size = this.#size,
      to = batch as BoxArray | undefined,
      at = row * size;
    if (!(value instanceof this.#Type) || value.length !== size) {
      const wanted = `${withArticle(this.#Type.name)} of ${size}`;
      return { field: "", got: describe(value), wanted };
    }
    if (this.#allowed === undefined) {
      to?.set(value, at);
      return;
    }
    const [low, high] = this.#allowed;
    for (let i = 0; i < size; i++) {
      const number = value[i];
      if (!(number >= low[i] && number <= high[i])) {
        return this.#outside(number, i);
      }
      if (to !== undefined) to[at + i] = number;
    }
  }

  #outside(number: number, i: number): EnvDataFault {
    const [low, high] = boundsOf(this.#space, i);
    const isBounded = Number.isFinite(number) &&
      (Number.isFinite(low) || Number.isFinite(high));
    return {
      field: `[${i}]`,
      got: String(number),
      wanted: isBounded ? `a number from ${low} to ${high}` : "a finite number",
    };
  }
}

class NumberPart implements Part {
  readonly #space: Space;
  readonly #low: number;
  readonly #high: number;

  constructor(space: Space) {
    this.#space = space;
    [this.#low, this.#high] = boundsOf(space, 0);
  }

  write(
    value: unknown,
    batch: Batch | undefined,
    row: number,
  ): EnvDataFault | undefined {
    if (
      typeof value === "number" && Number.isInteger(value) &&
      value >= this.#low && value <= this.#high
    ) {
      if (batch !== undefined) (batch as BoxArray)[row] = value;
      return;
    }
    const wanted = describeSpace(this.#space);
    return { field: "", got: describe(value), wanted };
  }
}

/** The parts of a dict or a tuple. */
class Parts implements Part {
  readonly #space: Space;
  readonly #parts: readonly (readonly [string, Part])[];

  constructor(
    space: Space & { type: "dict" | "tuple" },
    looseBounds: boolean,
  ) {
    this.#space = space;
    this.#parts = Object.entries<Space>({ ...space.spaces }).map((
      [key, inner],
    ) => [key, partOf(inner, looseBounds)]);
  }

  write(
    value: unknown,
    batch: Batch | undefined,
    row: number,
  ): EnvDataFault | undefined {
    const isOne = typeof value === "object" && value !== null &&
      Array.isArray(value) === (this.#space.type === "tuple") &&
      Object.keys(value).length === this.#parts.length;
    if (!isOne) {
      const wanted = describeSpace(this.#space);
      return { field: "", got: describe(value), wanted };
    }
    for (const [key, part] of this.#parts) {
      const inner = (value as Record<string, unknown>)[key];
      const into = (batch as Record<string, Batch> | undefined)?.[key];
      const fault = part.write(inner, into, row);
      if (fault) return { ...fault, field: `[${key}]${fault.field}` };
    }
  }
}

function partOf(space: Space, looseBounds: boolean): Part {
  if (space.type === "discrete") return new NumberPart(space);
  return space.type === "dict" || space.type === "tuple"
    ? new Parts(space, looseBounds)
    : new ArrayPart(space, looseBounds);
}

/** Checks what the copies of an environment return, and writes it into batches. */
export class EnvData {
  readonly #spec: Partial<EnvSpec> | undefined;
  readonly #part: Part;

  /**
   * @param space Space of the observations.
   * @param spec Name, and whether bounds are kept.
   */
  constructor(space: Space, spec?: Partial<EnvSpec>) {
    this.#spec = spec;
    this.#part = partOf(space, spec?.looseBounds ?? false);
  }

  /**
   * Checks a copy's observation and writes it into its row of a batch.
   *
   * @param step Step of the episode that it belongs to; 0 for a reset.
   */
  write(value: unknown, batch: Batch, row: number, step: number): void {
    const fault = this.#part.write(value, batch, row);
    if (fault) this.#refuse(value, fault, { copy: row, step });
  }

  /** Checks the observation of one environment, after a reset or a step. */
  check(value: unknown, after: "reset" | "step"): void {
    const fault = this.#part.write(value, undefined, 0);
    if (fault) this.#refuse(value, fault, after === "reset" ? { step: 0 } : {});
  }

  #refuse(value: unknown, fault: EnvDataFault, place: EnvDataPlace): never {
    const field = fault.field === ""
      ? "the observation"
      : `observation${fault.field}`;
    const wanted = isThenable(value)
      ? `${fault.wanted}: ${
        place.step === 0 ? "reset" : "step"
      } must not be async`
      : fault.wanted;
    throw this.error({ ...fault, field, wanted }, place);
  }

  /**
   * Checks the reward and the flags of what a copy's step returned, and the
   * episodes that it says have ended.
   */
  result(given: unknown, copy?: number, step?: number): StepResult {
    if (typeof given === "object" && given !== null) {
      const { reward, terminated, truncated, info } = given as StepResult;
      if (
        Number.isFinite(reward) && typeof terminated === "boolean" &&
        typeof truncated === "boolean"
      ) {
        if (Array.isArray(info?.episodes)) {
          this.#checkEpisodes(info.episodes, { copy, step });
        }
        return given as StepResult;
      }
    }
    throw this.error(resultFault(given), { copy, step });
  }

  #checkEpisodes(told: readonly unknown[], place: EnvDataPlace): void {
    told.forEach((given, i) => {
      const fault = episodeFault(given);
      if (fault === undefined) return;
      const field = `info.episodes[${i}]${fault.field}`;
      throw this.error({ ...fault, field }, place);
    });
  }

  /** An error about a copy. */
  error(fault: EnvDataFault, place: EnvDataPlace): EnvDataError {
    return new EnvDataError(fault, { id: this.#spec?.id, ...place });
  }
}

/** The fault of what a step returned, apart from its observation. */
function resultFault(given: unknown): EnvDataFault {
  const wanted = "a record of observation, reward, terminated, truncated";
  if (typeof given !== "object" || given === null || isThenable(given)) {
    return {
      field: "the result of step",
      got: describe(given),
      wanted: isThenable(given) ? `${wanted}: step must not be async` : wanted,
    };
  }
  const { reward, terminated, truncated } = given as StepResult;
  if (!Number.isFinite(reward)) {
    const got = describe(reward);
    return { field: "the reward", got, wanted: "a finite number" };
  }
  const field = typeof terminated === "boolean" ? "truncated" : "terminated";
  const got = describe(field === "truncated" ? truncated : terminated);
  return { field: `'${field}'`, got, wanted: "true or false" };
}

/** The fault of what should tell of an episode. */
function episodeFault(given: unknown): EnvDataFault | undefined {
  const isRecord = typeof given === "object" && given !== null;
  const { return: sum, length, terminated, lifeReturns } = isRecord
    ? given as EpisodeStatistics
    : {} as Partial<EpisodeStatistics>;
  const checks: [field: string, got: unknown, isRight: boolean, string][] = [
    ["", given, isRecord, "a record of return, length, terminated"],
    [".return", sum, Number.isFinite(sum), "a finite number"],
    [
      ".length",
      length,
      Number.isSafeInteger(length) && length! > 0,
      "a whole number of at least 1",
    ],
    [
      ".terminated",
      terminated,
      typeof terminated === "boolean",
      "true or false",
    ],
    [
      ".lifeReturns",
      lifeReturns,
      lifeReturns === undefined ||
      Array.isArray(lifeReturns) && lifeReturns.every(Number.isFinite),
      "a list of finite numbers, or none",
    ],
  ];
  const wrong = checks.find(([, , isRight]) => !isRight);
  if (wrong === undefined) return undefined;
  const [field, got, , wanted] = wrong;
  return { field, got: describe(got), wanted };
}

/** The arrays of a vector environment's step, or the first alone of a reset. */
export type VecData = Pick<VecStep, "observations"> & Partial<VecStep>;

/**
 * Throws unless what copies in other threads or processes returned is finite:
 * the arrays that it came in fix its types and shapes.
 */
export function checkFinite(
  { observations, rewards, finalObservations, ...ends }: VecData,
  { id, first, numEnvs }: { id?: string; first: number; numEnvs: number },
): void {
  const odd = firstOdd("the reward", rewards, { numEnvs }) ??
    firstOdd("observation", observations, { numEnvs }) ??
    firstOdd("final observation", finalObservations, { numEnvs, ends });
  if (odd === undefined) return;
  const { name, batch, at } = odd, size = batch.length / numEnvs;
  const field = batch === rewards ? name : `${name}[${at % size}]`;
  const fault = { field, got: `${batch[at]}`, wanted: "a finite number" };
  throw new EnvDataError(fault, { id, copy: first + Math.floor(at / size) });
}

/**
 * The first number of a batch that is not finite; with `ends`, in rows of
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
      const copy = Math.floor(i / size);
      const hasEnded = ends?.terminated?.[copy] || ends?.truncated?.[copy];
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

/** The fault of a batch that is not of the same arrays as another one. */
export function batchFault(
  field: string,
  batch: unknown,
  like: Batch,
): EnvDataFault | undefined {
  if (ArrayBuffer.isView(like)) {
    const { constructor: Type, length } = like;
    const isAlike = batch instanceof Type &&
      (batch as BoxArray).length === length;
    if (isAlike) return undefined;
    const wanted = `${withArticle(Type.name)} of ${length}${
      isThenable(batch) ? ": reset and step must not be async" : ""
    }`;
    return { field, got: describe(batch), wanted };
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
 * @param copy Which copy it is.
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
