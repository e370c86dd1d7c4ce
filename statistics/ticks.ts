/** Largest number that charts draw as it is: sums and places in pixels stay finite. */
const MOST = 1e300;

/**
 * Moves a number into what charts can draw: those beyond 1e300 become that.
 *
 * @param value Any number.
 * @returns The nearest that can be drawn; NaN stays.
 *
 * @example
 * ```ts
 * import { drawable } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([1e299, -1e308].map(drawable), [1e299, -1e300]);
 * ```
 */
export function drawable(value: number): number {
  return Math.max(-MOST, Math.min(value, MOST));
}

/**
 * Makes the range of an axis around numbers. Those that differ by rounding alone,
 * as means of equal numbers do, are one line in the middle.
 *
 * @param low The lowest number.
 * @param high The highest one.
 * @param part Room below and above, as a part of what is between them; 0 by default.
 * @returns A range whose ends and length are finite and not 0.
 *
 * @example
 * ```ts
 * import { rangeAround } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(rangeAround(0, 100, 0.05), [-5, 105]);
 * assertEquals(rangeAround(-20.000000000000004, -20), [-22, -18]);
 * ```
 */
export function rangeAround(
  low: number,
  high: number,
  part = 0,
): [number, number] {
  const [from, to] = [drawable(low), drawable(high)];
  const size = Math.max(Math.abs(from), Math.abs(to)), span = to - from;
  if (span > 1e-10 * size && span > 1e-305) {
    return [drawable(from - span * part), drawable(to + span * part)];
  }
  const middle = Number(to.toPrecision(10));
  const room = size > 1e-290 ? 0.1 * size : 1;
  return [middle - room, middle + room];
}

/** Numbers along an axis. */
export interface Ticks {
  /** Round numbers within the range, rising; at least one. */
  readonly ticks: number[];
  /** The round numbers next to them, at or beyond the ends of the range. */
  readonly around: readonly [number, number];
}

/**
 * Chooses round numbers along an axis: multiples of 1, 2 or 5 times a power of
 * ten. However little doubles can tell the ends apart, there are no more than are wanted
 * and two.
 *
 * @param from Lower end.
 * @param to Upper end.
 * @param wanted Steps between the numbers, at most; 5 by default.
 * @returns The numbers; both ends where no round one lies between them.
 *
 * @example
 * ```ts
 * import { ticksOver } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(ticksOver(0, 100).ticks, [0, 20, 40, 60, 80, 100]);
 * assertEquals(ticksOver(3, 96).around, [0, 100]);
 * const next = 500.00000000000006;
 * assertEquals(ticksOver(500, next).ticks, [500]);
 * ```
 */
export function ticksOver(from: number, to: number, wanted = 5): Ticks {
  const rough = to / wanted - from / wanted;
  const ends = [...new Set([from, to])];
  if (!(rough > 0 && rough < Infinity)) {
    return { ticks: ends, around: [from, to] };
  }
  const power = Number(`1e${Math.max(-323, Math.floor(Math.log10(rough)))}`);
  const step = power *
    ([1, 2, 5].find((it) => it * power >= 0.999 * rough) ?? 10);
  // Without the digits that multiplying adds.
  const first = Math.ceil(from / step - 1e-9), slack = 1e-9 * step;
  const multiple = (i: number) => Number(((first + i) * step).toPrecision(15));
  const ticks: number[] = [];
  for (let i = 0; i <= wanted + 1; i++) {
    const tick = multiple(i);
    // Neighbours may be the same number, or the next one beyond the end.
    const isNext = tick > (ticks.at(-1) ?? -Infinity);
    if (isNext && tick >= from - slack && tick <= to + slack) ticks.push(tick);
  }
  if (ticks.length === 0) return { ticks: ends, around: [from, to] };
  const [low, high] = [ticks[0], ticks.at(-1)!];
  return {
    ticks,
    around: [
      low > from + slack ? Math.min(multiple(-1), from) : low,
      high < to - slack ? Math.max(multiple(ticks.length), to) : high,
    ],
  };
}

/** A range above 0 for logarithms, and the numbers along it. */
export interface LogAxis {
  /** Its ends, which differ. */
  readonly range: [number, number];
  /** Powers of ten where there are two of them, else round numbers. */
  readonly ticks: number[];
}

/**
 * Makes an axis of logarithms around numbers above 0.
 *
 * @param low The lowest number.
 * @param high The highest one.
 * @param wanted Steps between the numbers along it, at most; 6 by default.
 * @returns Its range, wider than numbers that differ by rounding alone, and its numbers.
 *
 * @example
 * ```ts
 * import { logAxis } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(logAxis(0.1, 100).ticks, [0.1, 1, 10, 100]);
 * assertEquals(logAxis(1, 1).range, [0.5, 2]);
 * ```
 */
export function logAxis(low: number, high: number, wanted = 6): LogAxis {
  const [least, most] = [low, high].map((it) => Math.max(it, 1 / MOST));
  const range: [number, number] = most > least * (1 + 1e-10)
    ? [least, drawable(most)]
    : [least / 2, drawable(2 * most)];
  const [from, to] = range.map(Math.log10);
  const powers = ticksOver(from, to, wanted).ticks.filter(Number.isInteger)
    .map((it) => Number(`1e${it}`));
  const ticks = powers.length > 1 ? powers : ticksOver(...range, wanted).ticks;
  return { range, ticks };
}
