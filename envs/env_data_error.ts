/** Data of an environment that cannot be used. */
export interface EnvDataFault {
  /** Part of the data: `the reward`, or `observation[1]`. */
  readonly field: string;
  /** Description of the value or type. */
  readonly got: string;
  /** Description of the expected value or type. */
  readonly wanted: string;
}

/** Environment and time that an {@linkcode EnvDataFault} belongs to. */
export interface EnvDataPlace {
  /**
   * Name of the environment.
   *
   * @default none: it was not made by name
   */
  readonly id?: string;
  /**
   * Index of the environment within its vector environment.
   *
   * @default none: it stands alone
   */
  readonly copy?: number;
  /**
   * Step of the environment's episode; 0 is the reset.
   *
   * @default none: the step is not known
   */
  readonly step?: number;
}

/** Describes an environment and its step. */
export function describePlace({ id, copy, step }: EnvDataPlace): string {
  const name = id ?? "an environment";
  const env = copy === undefined ? name : `${name}, copy ${copy}`;
  if (step === undefined) return env;
  return step === 0
    ? `${env}, at the start of its episode`
    : `${env}, at step ${step} of its episode`;
}

/**
 * Wrong data from an environment: of another type or shape than its spaces say,
 * not finite, or out of bounds. Nothing is trained on it, and a host that throws
 * it is not restarted: the mistake is the environment's own.
 *
 * @example
 * ```ts
 * import { EnvDataError } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new EnvDataError(
 *   { field: "the reward", got: "NaN", wanted: "a finite number" },
 *   { id: "Maze-v0", copy: 2, step: 7 },
 * );
 * assertEquals(
 *   error.message,
 *   "Cannot use the reward of Maze-v0, copy 2, at step 7 of its episode: it is NaN, expected a finite number",
 * );
 * ```
 */
export class EnvDataError extends TypeError {
  /** Name of the error class. */
  override readonly name = "EnvDataError";
  /** Data that is wrong. */
  readonly fault: EnvDataFault;
  /** Origin of the data. */
  readonly place: EnvDataPlace;

  /**
   * Makes the error with its message.
   *
   * @param fault Data that is wrong.
   * @param place Origin of the data.
   */
  constructor(fault: EnvDataFault, place: EnvDataPlace = {}) {
    const { field, got, wanted } = fault, env = describePlace(place);
    super(`Cannot use ${field} of ${env}: it is ${got}, expected ${wanted}`);
    this.fault = fault;
    this.place = place;
  }

  /**
   * Counts the environment within a larger vector environment.
   *
   * @param first Index there of the environment that has index 0 here.
   * @returns The same error with the index there.
   */
  from(first: number): EnvDataError {
    const { copy } = this.place;
    if (copy === undefined) return this;
    return new EnvDataError(this.fault, { ...this.place, copy: copy + first });
  }
}

/** Finds out if a value is a promise, or can pass for one. */
export function isThenable(value: unknown): boolean {
  return typeof (value as Promise<unknown> | null)?.then === "function";
}

/** Makes the fault of a value. */
export function faultOf(
  field: string,
  value: unknown,
  wanted: string,
): EnvDataFault {
  return { field, got: describe(value), wanted };
}

/** Describes a value by its kind, a short one by itself. */
function describe(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  if (isThenable(value)) return "a promise";
  const name = Object.getPrototypeOf(value)?.constructor?.name ?? "record";
  if (Array.isArray(value) && name === "Array") {
    return `a list of ${value.length}${hasGaps(value) ? " with gaps" : ""}`;
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return `${withArticle(name)} of ${(value as Float32Array).length}`;
  }
  if (name === "Object") return `a record of ${Object.keys(value).join(", ")}`;
  return withArticle(name);
}

/** Finds out if a list lacks items, or has properties besides them. */
export function hasGaps(list: readonly unknown[]): boolean {
  const keys = Object.keys(list), { length } = list;
  // Keys of items come first, in their order.
  return keys.length !== length ||
    length > 0 && keys[length - 1] !== `${length - 1}`;
}

/** Puts `a` or `an` before a name. */
export function withArticle(name: string): string {
  return `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`;
}
