import type {
  BoxArray,
  BoxSpace,
  RandomSource,
  Space,
  SpaceValue,
  ValueOf,
} from "@bellman/types";
import {
  allocateArray,
  boundAt,
  boundIn,
  elementCount,
  isArrayOf,
  mapSpaces,
} from "./arrays.ts";

/**
 * Describes a space, for messages.
 *
 * @param space Space to describe.
 * @returns One line.
 * @example
 * ```ts
 * import { describeSpace, discrete } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(describeSpace(discrete(2)), "a whole number from 0 to 1");
 * ```
 */
export function describeSpace(space: Space): string {
  switch (space.type) {
    case "discrete": {
      const start = space.start ?? 0;
      return `a whole number from ${start} to ${start + space.n - 1}`;
    }
    case "box": {
      const [low, high] = [space.low, space.high]
        .map((bound) => typeof bound === "number" ? bound : `[${bound}]`);
      return `${space.dtype} numbers of shape [${space.shape}] from ${low} to ${high}`;
    }
    case "multiDiscrete":
      return `${space.nvec.length} whole numbers below [${space.nvec}]`;
    case "multiBinary":
      return `${space.n} bits`;
    case "dict":
      return `a record of ${Object.keys(space.spaces).join(", ")}`;
    case "tuple":
      return `a list of ${space.spaces.length} values`;
  }
}

/**
 * Finds out if a value belongs to a space by type, length and bounds; NaN never
 * does.
 *
 * @param space Space to look in.
 * @param value Anything.
 * @returns True where it belongs to the space.
 * @example
 * ```ts
 * import { box, contains } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const space = box({ low: -1, high: 1, shape: [2] });
 * assert(contains(space, Float32Array.of(0.5, -1)));
 * assert(!contains(space, Float32Array.of(0.5, NaN)));
 * assert(!contains(space, [0.5, 0]));
 * ```
 */
export function contains(space: Space, value: unknown): value is SpaceValue {
  switch (space.type) {
    case "discrete": {
      const index = (value as number) - (space.start ?? 0);
      return typeof value === "number" && Number.isInteger(value) &&
        index >= 0 && index < space.n;
    }
    case "box":
    case "multiDiscrete":
    case "multiBinary":
      return isArrayOf(space, value) &&
        value.every((it, i) =>
          it >= boundIn(space, "low", i) && it <= boundIn(space, "high", i)
        );
    case "dict": {
      if (typeof value !== "object" || value === null) return false;
      const entries = Object.entries(space.spaces);
      return Object.keys(value).length === entries.length &&
        entries.every(([key, inner]) =>
          contains(inner, (value as Record<string, unknown>)[key])
        );
    }
    case "tuple":
      return Array.isArray(value) && value.length === space.spaces.length &&
        space.spaces.every((inner, i) => contains(inner, value[i]));
  }
}

/** Draws an element of a box: uniform, normal or one-sided exponential. */
function sampleElement(
  low: number,
  high: number,
  random: RandomSource,
): number {
  const bounded = [Number.isFinite(low), Number.isFinite(high)];
  if (bounded[0] && bounded[1]) return low + (high - low) * random.uniform();
  if (bounded[0]) return low - Math.log(1 - random.uniform());
  if (bounded[1]) return high + Math.log(1 - random.uniform());
  return random.normal();
}

function sampleBox(space: BoxSpace, random: RandomSource): BoxArray {
  const value = allocateArray(space, elementCount(space));
  const whole = space.dtype === "int32" || space.dtype === "uint8";
  for (let i = 0; i < value.length; i++) {
    const low = boundIn(space, "low", i), high = boundIn(space, "high", i);
    value[i] = whole
      ? Math.min(Math.floor(sampleElement(low, high + 1, random)), high)
      : sampleElement(low, high, random);
    // Rounding to float32 may step over a bound.
    value[i] = Math.min(Math.max(value[i], low), high);
  }
  return value;
}

/** Draws one of `n` choices, or of those that masks from `at` on allow. */
function sampleChoice(
  n: number,
  random: RandomSource,
  masks: Uint8Array | undefined,
  at: number,
): number {
  if (masks === undefined) return random.integer(n);
  let allowed = 0;
  for (let i = 0; i < n; i++) allowed += masks[at + i];
  let left = random.integer(allowed), choice = 0;
  while (masks[at + choice] === 0 || left-- > 0) choice++;
  return choice;
}

/**
 * Draws a value of a space: uniform where it is bounded, normal where it is not,
 * exponential where it is bounded on one side.
 *
 * @param space Space to draw from.
 * @param random Source of the numbers.
 * @param masks Choices that are allowed, at least one of each part, as
 * `Env.actionMasks` returns them: discrete, multi-discrete and multi-binary values
 * are uniform among these.
 * @returns A new value.
 * @example
 * ```ts
 * import { box, contains, sample, SeededRandom } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const space = box({ low: 0, shape: [3] });
 * assert(contains(space, sample(space, new SeededRandom(1))));
 * ```
 */
export function sample<S extends Space>(
  space: S,
  random: RandomSource,
  masks?: Uint8Array,
): ValueOf<S> {
  return sampleValue(space, random, masks) as ValueOf<S>;
}

function sampleValue(
  space: Space,
  random: RandomSource,
  masks: Uint8Array | undefined,
): SpaceValue {
  switch (space.type) {
    case "discrete":
      return sampleChoice(space.n, random, masks, 0) + (space.start ?? 0);
    case "box":
      return sampleBox(space, random);
    case "multiDiscrete": {
      let at = 0;
      return Int32Array.from(space.nvec, (n) => {
        at += n;
        return sampleChoice(n, random, masks, at - n);
      });
    }
    case "multiBinary":
      return Uint8Array.from(
        { length: space.n },
        (_, bit) => sampleChoice(2, random, masks, 2 * bit),
      );
    case "dict":
    case "tuple":
      return mapSpaces<SpaceValue>(space, (inner) => sample(inner, random));
  }
}

function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((it, i) => it === b[i]);
}

function sameBoxes(a: BoxSpace, b: BoxSpace): boolean {
  if (a.dtype !== b.dtype || !sameNumbers(a.shape, b.shape)) return false;
  for (let i = 0; i < elementCount(a); i++) {
    if (boundAt(a.low, i) !== boundAt(b.low, i)) return false;
    if (boundAt(a.high, i) !== boundAt(b.high, i)) return false;
  }
  return true;
}

function sameParts(
  a: Readonly<Record<string, Space>> | readonly Space[],
  b: Readonly<Record<string, Space>> | readonly Space[],
): boolean {
  const others = new Map(Object.entries<Space>({ ...b }));
  const parts = Object.entries<Space>({ ...a });
  return parts.length === others.size &&
    parts.every(([key, inner]) => {
      const other = others.get(key);
      return other !== undefined && spacesEqual(inner, other);
    });
}

/**
 * Finds out if two spaces have the same values. One bound for all elements
 * equals a list of that bound; the order of a dict's names does not matter.
 *
 * @param a Space to compare.
 * @param b Space to compare it with.
 * @returns True where they are equal.
 * @example
 * ```ts
 * import { box, discrete, spacesEqual } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(spacesEqual(box({ low: [0, 0] }), box({ low: 0, shape: [2] })));
 * assert(!spacesEqual(discrete(2), discrete(2, { start: 1 })));
 * ```
 */
export function spacesEqual(a: Space, b: Space): boolean {
  switch (a.type) {
    case "discrete":
      return b.type === "discrete" && a.n === b.n &&
        (a.start ?? 0) === (b.start ?? 0);
    case "box":
      return b.type === "box" && sameBoxes(a, b);
    case "multiDiscrete":
      return b.type === "multiDiscrete" && sameNumbers(a.nvec, b.nvec);
    case "multiBinary":
      return b.type === "multiBinary" && a.n === b.n;
    case "dict":
    case "tuple":
      return b.type === a.type && sameParts(a.spaces, b.spaces);
  }
}
