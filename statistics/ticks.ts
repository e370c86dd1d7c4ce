/** Largest number that charts draw, so that sums and pixel positions stay finite. */
const MOST = 1e300;

/**
 * Limits a number to what charts can draw, ±1e300.
 *
 * @param value Any number.
 * @returns The limited number; NaN stays.
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
 * Makes the range of an axis around numbers. If they differ only by rounding, as means
 * of equal numbers do, they are centered.
 *
 * @param low The lowest number.
 * @param high The highest one.
 * @param part Margin on both sides, as a fraction of the range; 0 by default.
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

/** Tick marks of an axis. */
export interface Ticks {
  /** Round numbers within the range, ascending; at least one. */
  readonly ticks: number[];
  /** Next ticks at or beyond the ends of the range. */
  readonly around: readonly [number, number];
}

/**
 * Chooses tick marks of an axis: multiples of 1, 2 or 5 times a power of ten. Even if
 * the ends are hardly distinct in double precision, there are at most `wanted + 2`.
 *
 * @param from Lower end.
 * @param to Upper end.
 * @param wanted Largest number of steps between ticks; 5 by default.
 * @returns Tick marks; both ends if no round number is between them.
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
  // Removes the digits that multiplication adds.
  const first = Math.ceil(from / step - 1e-9), slack = 1e-9 * step;
  const multiple = (i: number) => Number(((first + i) * step).toPrecision(15));
  const ticks: number[] = [];
  for (let i = 0; i <= wanted + 1; i++) {
    const tick = multiple(i);
    // Neighbours may be equal in double precision, or the next number beyond the end.
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

/** Logarithmic axis. */
export interface LogAxis {
  /** Ends of the axis, which differ. */
  readonly range: [number, number];
  /** Powers of ten if at least two fit, else round numbers. */
  readonly ticks: number[];
}

/**
 * Makes a logarithmic axis around numbers above 0.
 *
 * @param low The lowest number.
 * @param high The highest one.
 * @param wanted Largest number of steps between ticks; 6 by default.
 * @returns Range and tick marks; the range is widened if the numbers differ only by
 * rounding.
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
