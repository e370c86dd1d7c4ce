import type { Attributes, Node, Value } from "./graph.ts";

/**
 * The operation that computes a chain of others for some rows alone; the other
 * rows of what it makes are 0. Its inputs are the mask of the rows, one truth
 * value each, and all that the chain takes from outside.
 */
export const CHOSEN_ROWS = "ChosenRows";

/** Settings of {@linkcode CHOSEN_ROWS}. */
export interface ChosenRows {
  /** The operations, each but the first taking what the one before makes. */
  readonly chain: readonly Node[];
  /** Which inputs of the chain have a row for each of the mask's. */
  readonly byRow: readonly Value[];
}

/** The settings of an operation on chosen rows. */
export function chosenRowsOf({ attributes }: Node): ChosenRows {
  return attributes as unknown as ChosenRows;
}

/** An operation on chosen rows. */
export function chosenRows(
  mask: Value,
  { chain, byRow }: ChosenRows,
): Node {
  const made = new Set(chain.flatMap(({ outputs }) => outputs));
  const taken = new Set(
    chain.flatMap(({ inputs }) => inputs).filter((it) => !made.has(it)),
  );
  const last = chain[chain.length - 1];
  return {
    op: CHOSEN_ROWS,
    inputs: [mask, ...taken],
    attributes: { chain, byRow } satisfies Attributes,
    outputs: last.outputs,
    source: last.source,
  };
}
