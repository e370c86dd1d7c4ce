import type { Episode } from "@bellman/types";
import { BLOCK_UNITS } from "../copy.ts";
import { ARRAYS, type FieldArray, type Schema } from "../fields.ts";
import { type Part, partAt, partsOf, type Spaces } from "./spaces.ts";

/** Excess over a bound, relative to it, that rounding to 32 bits may cause. */
const ROUNDING = 1e-6;

/** Numbers of all rows of one array of recorded values. */
export type Column = Part & { readonly data: FieldArray };

/** Rows of episodes, in the order of the arrays of a schema. */
export interface Columns {
  readonly schema: Schema;
  readonly list: readonly Column[];
}

/** Fields that a step has before and after it, and their names afterwards. */
export const NEXT: Readonly<Record<string, string>> = {
  observations: "nextObservations",
  actionMasks: "nextActionMasks",
};

/** Makes columns of zeros for so many rows. */
export function columnsOf(
  spaces: Spaces,
  rows: number,
  options: { masked: boolean; bounded?: boolean },
): Columns {
  const { schema, parts } = partsOf(spaces, options);
  const list = parts.map((part) => ({
    ...part,
    data: new ARRAYS[part.dtype](rows * part.size),
  }));
  return { schema, list };
}

/** Makes the error of an episode that cannot be used. */
export function refusal(episode: number, problem: string): RangeError {
  return new RangeError(`Cannot use episode ${episode}: ${problem}`);
}

/** An episode with flags of 0 and 1, of which the last step has one. */
export type Steps = ReturnType<typeof stepsOf>;

/** Checks the flags of an episode; one that was cut by the recording is truncated. */
export function stepsOf(episode: Episode, number: number) {
  const steps = episode.rewards.length;
  if (steps === 0) throw refusal(number, "it has no steps");
  const flags = (name: "terminations" | "truncations") => {
    const flags = Uint8Array.from(episode[name], (it, step) => {
      if (!Number.isNaN(it)) return it ? 1 : 0;
      throw refusal(
        number,
        `its ${name} at step ${step} have ${it}, expected 0 or 1`,
      );
    });
    if (flags.length !== steps) {
      throw refusal(
        number,
        `it has ${flags.length} ${name}, expected ${steps} as there are rewards`,
      );
    }
    const end = flags.indexOf(1);
    if (end === -1 || end === steps - 1) return flags;
    throw refusal(
      number,
      `step ${end} of ${steps} ends it, expected the last one to`,
    );
  };
  const terminated = flags("terminations"), truncated = flags("truncations");
  if (!terminated[steps - 1]) truncated[steps - 1] = 1;
  return { ...episode, terminated, truncated };
}

/** Copies an episode into columns, from a row on, and checks its numbers. */
export function fillColumns(
  { list }: Columns,
  steps: Steps,
  { number, first = 0 }: { number: number; first?: number },
): void {
  for (const column of list) {
    const { path, name, size, shape } = column;
    const rows = steps.rewards.length + (path[0] in NEXT ? 1 : 0);
    const values = partAt(steps, path) as ArrayLike<number> | undefined;
    if (values?.length !== rows * size) {
      throw refusal(
        number,
        `its ${name} have ${
          values?.length ?? "no"
        } numbers, expected ${rows} rows of shape [${shape}]`,
      );
    }
    fillColumn(column, values, { number, first });
  }
}

function fillColumn(
  { data, size, name, dtype, low, high }: Column,
  values: ArrayLike<number>,
  { number, first }: { number: number; first: number },
): void {
  const isFloat = dtype.startsWith("float"), start = first * size;
  const margin = (bound: number) =>
    isFloat ? ROUNDING * Math.max(1, Math.abs(bound)) : 0;
  for (let i = 0; i < values.length; i++) {
    data[start + i] = values[i];
    const value = data[start + i];
    const least = typeof low === "number" ? low : low[i % size];
    const most = typeof high === "number" ? high : high[i % size];
    if (
      (isFloat ? Number.isFinite(Math.fround(value)) : value === values[i]) &&
      value >= least - margin(least) && value <= most + margin(most)
    ) continue;
    const kind = isFloat ? "finite" : "whole";
    const range = most - least < Infinity ? ` from ${least} to ${most}` : "";
    const bounds = isFloat && Math.abs(values[i]) > 1e38
      ? " of 32 bits"
      : range;
    throw refusal(
      number,
      `its ${name} at step ${Math.floor(i / size)} have ${
        values[i]
      }, expected a ${kind} number${bounds}`,
    );
  }
}

/** Copies a column's rows, by their numbers and so many further, to another array. */
export function copyRows(
  { data, size }: Column,
  rows: ArrayLike<number>,
  target: FieldArray,
  further = 0,
): void {
  for (let i = 0; i < rows.length; i++) {
    const from = (rows[i] + further) * size, to = i * size;
    if (size >= BLOCK_UNITS) target.set(data.subarray(from, from + size), to);
    else for (let j = 0; j < size; j++) target[to + j] = data[from + j];
  }
}
