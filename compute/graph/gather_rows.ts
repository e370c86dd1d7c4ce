import type { Attributes, Node, Value } from "./graph.ts";

/**
 * The operation that computes a chain of others for some rows alone; the other
 * rows of what it makes are 0. Its inputs are the mask of the rows, one truth
 * value each, and all that the chain takes from outside.
 */
export const GATHER_ROWS = "GatherRows";

/** Settings of {@linkcode GATHER_ROWS}. */
export interface GatherRows {
  /** The operations, each but the first taking what the one before makes. */
  readonly chain: readonly Node[];
  /** Inputs of the chain that have a row for each of the mask's. */
  readonly byRow: readonly Value[];
}

/** Returns the settings of an operation on some rows. */
export function gatherRowsOf({ attributes }: Node): GatherRows {
  return attributes as unknown as GatherRows;
}

/** Makes an operation on some rows. */
export function gatherRows(
  mask: Value,
  { chain, byRow }: GatherRows,
): Node {
  const made = new Set(chain.flatMap(({ outputs }) => outputs));
  const taken = new Set(
    chain.flatMap(({ inputs }) => inputs).filter((it) => !made.has(it)),
  );
  const last = chain[chain.length - 1];
  return {
    op: GATHER_ROWS,
    inputs: [mask, ...taken],
    attributes: { chain, byRow } satisfies Attributes,
    outputs: last.outputs,
    source: last.source,
  };
}
