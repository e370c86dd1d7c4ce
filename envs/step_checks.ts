/**
 * Checks of the steps of vector environments: whoever learns from them calls
 * `checkStep` first.
 *
 * @example
 * ```ts
 * import { checkObservations } from "@bellman/envs/checks";
 * import { assertThrows } from "@std/assert";
 *
 * const observations = Float32Array.of(0.5, NaN);
 * assertThrows(() => checkObservations(observations, { numEnvs: 2, step: 0 }));
 * ```
 *
 * @module
 */
import { forbiddenFault, maskedChoices, maskFault } from "./_action_masks.ts";
import { isTypedArray } from "@bellman/files";
import type { Batch, Space, VecStep } from "@bellman/types";

export { checkSpace } from "./spaces/check_space.ts";

/** Number of environments, and the step for messages. */
export interface StepPlace {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Environment steps taken, this one included. */
  readonly step: number;
  /**
   * Space of one action, to tell the parts of masks; a dict of the roles of a game,
   * whose observations then have the rows of each role.
   *
   * @default masks are of one part
   */
  readonly actionSpace?: Space;
  /**
   * True where nothing is learned from the rewards: they may be any finite numbers.
   *
   * @default false
   */
  readonly isEvaluation?: boolean;
}

/**
 * True where numbers from `first` on, up to `end`, are finite once they are held in
 * 32 bits, as algorithms do: a product of 0 for each is not 0 in sum otherwise.
 */
function areFinite(
  numbers: Float32Array | Float64Array,
  first: number,
  end: number,
): boolean {
  // Two sums side by side, as each waits for its last addition.
  let even = 0, odd = 0, i = first;
  for (; i + 1 < end; i += 2) {
    even += Math.fround(numbers[i]) * 0;
    odd += Math.fround(numbers[i + 1]) * 0;
  }
  if (i < end) even += Math.fround(numbers[i]) * 0;
  return even + odd === 0;
}

function refuse(
  field: string,
  value: number,
  copy: number,
  { step, isEvaluation }: StepPlace,
): never {
  const wanted = Number.isFinite(value)
    ? "a number that 32 bits can hold"
    : "a finite number";
  throw new RangeError(
    `Cannot use the ${field} of copy ${copy} at step ${step}${
      isEvaluation ? " of an evaluation" : ""
    }: it is ${value}, expected ${wanted}`,
  );
}

/** Throws unless a batch is finite, in all environments or in one of them. */
function checkBatch(
  name: string,
  batch: unknown,
  place: StepPlace,
  only?: number,
): void {
  const { numEnvs, step } = place;
  if (!isTypedArray(batch)) {
    for (const [key, inner] of partsOf(name, batch, step)) {
      checkBatch(`${name}[${key}]`, inner, place, only);
    }
    return;
  }
  const size = batch.length / numEnvs;
  if (!Number.isInteger(size)) {
    throw new RangeError(
      `Cannot use the ${name}s at step ${step}: expected as many numbers of each copy, of which there are ${numEnvs}, got ${batch.length}`,
    );
  }
  // Whole numbers are finite.
  if (!(batch instanceof Float32Array || batch instanceof Float64Array)) return;
  const first = (only ?? 0) * size;
  const end = only === undefined ? batch.length : first + size;
  if (areFinite(batch, first, end)) return;
  const at = batch.findIndex((it, i) =>
    i >= first && !Number.isFinite(Math.fround(it))
  );
  const copy = Math.floor(at / size);
  refuse(`${name}[${at - copy * size}]`, batch[at], copy, place);
}

/** Lists the parts of a batch of a dict or a tuple. */
function partsOf(
  name: string,
  batch: unknown,
  step: number,
): [string, Batch][] {
  const isNest = typeof batch === "object" && batch !== null &&
    typeof (batch as Promise<unknown>).then !== "function";
  if (isNest) return Object.entries(batch);
  throw new TypeError(
    `Cannot use the ${name}s at step ${step}: expected typed arrays, got ${
      typeof batch === "object" && batch !== null ? "a promise" : String(batch)
    }`,
  );
}

/**
 * Throws unless a batch of observations is finite, also once it is held in 32
 * bits.
 *
 * @param observations Observations, `[numEnvs, ...]`, of a dict or tuple nested.
 * @param place Number of environments, and the step for the message.
 * @throws {RangeError} If a number is not finite, with its environment.
 * @throws {TypeError} If it is no batch, such as a promise.
 * @example
 * ```ts
 * import { checkObservations } from "@bellman/envs/checks";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => checkObservations(Float32Array.of(0, 1, 2, NaN), { numEnvs: 2, step: 0 }),
 *   RangeError,
 *   "Cannot use the observation[1] of copy 1 at step 0: it is NaN",
 * );
 * ```
 */
export function checkObservations(
  observations: unknown,
  place: StepPlace,
): void {
  const { numEnvs, step, actionSpace } = place;
  if (actionSpace?.type !== "dict") {
    return checkBatch("observation", observations, place);
  }
  // Entries of a game whose roles learn hold the rows of one role each.
  const parts = partsOf("observation", observations, step);
  for (const [role, part] of parts) {
    const rows = { ...place, numEnvs: numEnvs / parts.length };
    checkBatch(`observation of ${role}`, part, rows);
  }
}

/**
 * Throws unless a step of a vector environment can be learned from: rewards,
 * observations and the last observations of episodes that ended are finite, also
 * once they are held in 32 bits, and the masks of actions, where there are some, are 0
 * and 1 and allow something.
 *
 * @param observed The step.
 * @param place Number of environments, and the step for the message.
 * @throws {RangeError} If a number is not finite, or a mask allows nothing, with field
 * and environment, or there are too few or too many rewards, ends or masks.
 * @throws {TypeError} If something is not in typed arrays.
 * @example
 * ```ts
 * import { checkStep } from "@bellman/envs/checks";
 * import { assertThrows } from "@std/assert";
 *
 * const step = {
 *   observations: Float32Array.of(0, 1),
 *   rewards: Float64Array.of(1, Infinity),
 *   terminated: Uint8Array.of(0, 0),
 *   truncated: Uint8Array.of(0, 0),
 *   finalObservations: Float32Array.of(0, 0),
 * };
 * assertThrows(
 *   () => checkStep(step, { numEnvs: 2, step: 956 }),
 *   RangeError,
 *   "Cannot use the reward of copy 1 at step 956: it is Infinity, expected a finite number",
 * );
 * ```
 */
export function checkStep(observed: VecStep, place: StepPlace): void {
  const { rewards, terminated, truncated } = observed;
  const { numEnvs } = place;
  checkRows("rewards", rewards, place);
  checkRows("terminated", terminated, place);
  checkRows("truncated", truncated, place);
  if (!areFinite(rewards, 0, numEnvs)) {
    const held = place.isEvaluation ? Number : Math.fround;
    const copy = Array.from(rewards)
      .findIndex((it) => !Number.isFinite(held(it)));
    if (copy >= 0) refuse("reward", rewards[copy], copy, place);
  }
  checkObservations(observed.observations, place);
  // The agent of each role checks the rest.
  if (place.actionSpace?.type === "dict") return;
  const { actionMasks, finalActionMasks } = observed;
  if (actionMasks !== undefined) checkMasks(actionMasks, place);
  for (let i = 0; i < numEnvs; i++) {
    if (terminated[i] === 0 && truncated[i] === 0) continue;
    checkFlag("terminated", terminated[i], i, place);
    checkFlag("truncated", truncated[i], i, place);
    const { observations, finalObservations } = observed;
    checkAlike(observations, finalObservations, place);
    checkBatch("final observation", finalObservations, place, i);
    if (actionMasks !== undefined) checkMasks(finalActionMasks, place, i);
  }
}

/**
 * Throws unless masks of actions are 0 and 1 and allow a choice of each part, in all
 * environments or in one of them.
 */
function checkMasks(
  masks: Uint8Array | undefined,
  place: StepPlace,
  only?: number,
): void {
  const { numEnvs, step } = place, name = "action masks";
  const size = masks instanceof Uint8Array ? masks.length / numEnvs : NaN;
  const { actionSpace } = place;
  const choices = actionSpace ? maskedChoices(actionSpace) : [size];
  const wanted = choices.reduce((a, b) => a + b);
  if (masks === undefined || size !== wanted || !Number.isInteger(size)) {
    throw new TypeError(
      `Cannot use the ${name} at step ${step}: expected a Uint8Array of ${
        Number.isInteger(wanted)
          ? numEnvs * wanted
          : `rows of ${numEnvs} copies`
      }, got ${masks instanceof Uint8Array ? masks.length : typeof masks}`,
    );
  }
  const end = only === undefined ? numEnvs : only + 1;
  for (let copy = only ?? 0; copy < end; copy++) {
    const row = masks.subarray(copy * size, (copy + 1) * size);
    const fault = maskFault(row, size) ?? forbiddenFault(row, choices);
    if (fault === undefined) continue;
    throw new RangeError(
      `Cannot use ${fault.field} of copy ${copy} at step ${step}: it is ${fault.got}, expected ${fault.wanted}`,
    );
  }
}

/** Throws unless the end of an episode is 0 or 1. */
function checkFlag(
  name: string,
  flag: number,
  copy: number,
  { step }: StepPlace,
): void {
  if (flag <= 1) return;
  throw new RangeError(
    `Cannot use ${name} of copy ${copy} at step ${step}: it is ${flag}, expected 0 or 1`,
  );
}

/** Throws unless final observations have as many numbers as the others. */
function checkAlike(now: Batch, final: Batch, place: StepPlace): void {
  if (!isTypedArray(now)) {
    for (const [key, part] of Object.entries(now)) {
      checkAlike(
        part,
        (final as Record<string, Batch> | undefined)?.[key]!,
        place,
      );
    }
    return;
  }
  const length = isTypedArray(final) ? final.length : typeof final;
  if (length === now.length) return;
  throw new RangeError(
    `Cannot use the final observations at step ${place.step}: expected ${now.length} numbers as of the others, got ${length}`,
  );
}

/** Throws unless an array has a number for each environment. */
function checkRows(
  name: string,
  rows: ArrayLike<number>,
  { numEnvs, step }: StepPlace,
): void {
  if (!isTypedArray(rows)) {
    throw new TypeError(
      `Cannot use the ${name} at step ${step}: expected a typed array, got ${
        Array.isArray(rows) ? "a list" : typeof rows
      }`,
    );
  }
  if (rows.length === numEnvs) return;
  throw new RangeError(
    `Cannot use the ${name} at step ${step}: expected ${numEnvs} numbers, got ${rows.length}`,
  );
}
