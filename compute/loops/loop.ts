import type { Node, Value } from "../graph/graph.ts";

/** Operations on vectors of one size, number by number. */
export interface Loop {
  /** Numbers of each vector. */
  readonly size: number;
  /** Vectors that are read. */
  readonly inputs: readonly Value[];
  /** Single numbers that are read. */
  readonly scalars: readonly Value[];
  /** Numbers that are known. */
  readonly constants: ReadonlyMap<Value, number>;
  readonly nodes: readonly Node[];
  /** Vectors that are written. */
  readonly outputs: readonly Value[];
}
