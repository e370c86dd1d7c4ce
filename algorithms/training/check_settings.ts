/** The range that settings must lie in. */
export interface SettingsRange {
  /** The least number. */
  readonly minimum: number;
  /**
   * The largest number.
   *
   * @default Infinity
   */
  readonly maximum?: number;
  /**
   * Whether numbers must be whole.
   *
   * @default false
   */
  readonly whole?: boolean;
  /**
   * Whether the minimum itself is out of the range.
   *
   * @default false
   */
  readonly aboveMinimum?: boolean;
}

/**
 * Throws unless numbers of a configuration lie in a range.
 *
 * @param settings Numbers by the names of their settings.
 * @param range The range, and whose settings they are.
 * @throws {RangeError} With the first setting that does not.
 *
 * @example
 * ```ts
 * import { checkSettings } from "@bellman/training";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => checkSettings({ gamma: 2 }, { of: "A2C", minimum: 0, maximum: 1 }),
 *   RangeError,
 *   "Cannot run A2C with gamma = 2: expected a number from 0 to 1",
 * );
 * ```
 */
export function checkSettings(
  settings: Readonly<Record<string, number>>,
  range: SettingsRange & { readonly of: string },
): void {
  const { of, minimum, maximum = Infinity, whole, aboveMinimum } = range;
  for (const [name, value] of Object.entries(settings)) {
    const isEnough = aboveMinimum ? value > minimum : value >= minimum;
    if (isEnough && value <= maximum && (!whole || Number.isInteger(value))) {
      continue;
    }
    throw new RangeError(
      `Cannot run ${of} with ${name} = ${value}: expected a ${
        whole ? "whole number" : "number"
      } ${inWords(range)}`,
    );
  }
}

function inWords(
  { minimum, maximum = Infinity, aboveMinimum }: SettingsRange,
): string {
  const least = aboveMinimum ? `above ${minimum}` : `of at least ${minimum}`;
  if (maximum === Infinity) return least;
  return aboveMinimum
    ? `${least} and at most ${maximum}`
    : `from ${minimum} to ${maximum}`;
}
