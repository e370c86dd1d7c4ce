import { allocateArray } from "./_arrays.ts";
import { BoundBatch } from "./_bound_batch.ts";
import type { ReplaySchema } from "./_replay_schema.ts";
import { nest } from "./_schema.ts";
import type { Batch } from "./batch.ts";

/** Makes batches, and remembers those that were checked. */
export class Batches {
  readonly #schema: ReplaySchema;
  readonly #bounds = new WeakMap<Batch, BoundBatch>();
  #last: BoundBatch | undefined;

  constructor(schema: ReplaySchema) {
    this.#schema = schema;
  }

  /** Arrays for so many rows. */
  make(size: number): Batch {
    if (!Number.isSafeInteger(size) || size < 1) {
      throw new RangeError(
        `Cannot make a batch of ${size} rows: expected a whole number above 0`,
      );
    }
    const fields = nest(
      this.#schema.drawn.root,
      (leaf) => allocateArray(leaf.dtype, size * leaf.size),
    ) as Omit<Batch, "slots" | "weights">;
    const weights = new Float32Array(size).fill(1);
    return { ...fields, slots: new Int32Array(size), weights };
  }

  /** What drawing into a batch needs; throws unless its arrays fit. */
  bind(batch: Batch): BoundBatch {
    const last = this.#last;
    if (last?.batch === batch && last.isCurrent) return last;
    let bound = this.#bounds.get(batch);
    if (bound === undefined || !bound.isCurrent) {
      bound = new BoundBatch(batch, this.#schema);
      this.#bounds.set(batch, bound);
    }
    return this.#last = bound;
  }
}
