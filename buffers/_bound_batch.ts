import { isArrayOf } from "./_arrays.ts";
import { unitsOf } from "./_copy_rows.ts";
import type { ReplaySchema } from "./_replay_schema.ts";
import { collect, type Leaf } from "./_schema.ts";
import type { Target } from "./_stacker.ts";
import type { Batch } from "./batch.ts";
import type { FieldArray, FieldData, FieldValues } from "./field.ts";
import type { Drawn } from "./sampler.ts";

/** A caller's batch that was checked, and what drawing into it needs. */
export class BoundBatch {
  readonly batch: Batch;
  /** The array of each drawn leaf. */
  readonly targets: readonly Target[];
  readonly drawn: Drawn;
  /** The last row of each return; the drawn rows themselves for single steps. */
  readonly last: Int32Array;
  /** What comes after it: a row, or where it is at the side. */
  readonly next: Int32Array;
  /** Rows of each stack, `[row, frame]`, and of the one after it. */
  readonly stacks: Int32Array;
  readonly nextStacks: Int32Array;
  readonly sums: Float64Array;
  readonly discounts: Float64Array;
  /** Rows `[row, steps - 1]` of each return after its first, if they are drawn. */
  readonly between: Int32Array;
  readonly betweenDiscounts: Float64Array;
  /** Rows of the stacks that end with those. */
  readonly betweenStacks: Int32Array;
  readonly #leaves: readonly Leaf[];
  readonly #paths: readonly (readonly string[])[];

  constructor(batch: Batch, schema: ReplaySchema) {
    const { leaves } = schema.drawn;
    const { slots, weights, ...fields } = batch;
    checkDrawn(slots, weights);
    const size = slots.length;
    const arrays: ArrayLike<number>[] = [];
    const purpose = { action: "sample into", rows: size };
    collect(schema.drawn.root, fields as FieldValues, purpose, arrays);
    this.batch = batch;
    this.drawn = { slots, weights };
    this.targets = leaves.map((leaf, i) => targetOf(leaf, arrays[i]));
    this.#leaves = leaves;
    this.#paths = leaves.map(({ path }) => path);
    const { nStep } = schema.episodes ?? {};
    this.last = nStep === undefined ? slots : new Int32Array(size);
    this.next = new Int32Array(size);
    this.stacks = new Int32Array(size * schema.maxFrames);
    this.nextStacks = new Int32Array(size * schema.maxFrames);
    this.sums = new Float64Array(size);
    this.discounts = new Float64Array(size);
    const later = nStep?.hasBetween ? size * (nStep.steps - 1) : 0;
    this.between = new Int32Array(later);
    this.betweenDiscounts = new Float64Array(later);
    this.betweenStacks = new Int32Array(later * schema.maxFrames);
  }

  /** Whether the batch still has the arrays that were checked. */
  get isCurrent(): boolean {
    const { slots, weights } = this.drawn;
    if (this.batch.slots !== slots || this.batch.weights !== weights) {
      return false;
    }
    for (let i = 0; i < this.#leaves.length; i++) {
      let node: FieldData | undefined = this.batch;
      for (const key of this.#paths[i]) {
        node = (node as Record<string, FieldData> | undefined)?.[key];
      }
      if (node !== this.targets[i].array) return false;
    }
    return true;
  }
}

function checkDrawn(slots: unknown, weights: unknown): void {
  if (!(slots instanceof Int32Array) || !(weights instanceof Float32Array)) {
    throw new TypeError(
      "Cannot sample into arrays without slots and weights: expected an Int32Array and a Float32Array",
    );
  }
  if (slots.length === weights.length) return;
  throw new RangeError(
    `Cannot sample ${slots.length} slots and ${weights.length} weights: expected as many`,
  );
}

function targetOf({ name, dtype }: Leaf, array: unknown): Target {
  if (isArrayOf(dtype, array)) {
    return { array, units: unitsOf(array as FieldArray) };
  }
  throw new TypeError(
    `Cannot sample '${name}' into another kind of array: expected one of ${dtype}`,
  );
}
