import type { FieldArray } from "./field.ts";

/** Where a step goes: row `env * stride + offset` for each environment. */
export interface Place {
  readonly numEnvs: number;
  readonly stride: number;
  /** The step. */
  readonly offset: number;
}

/** Numbers of a row from which on a copy as a block is faster. */
const BLOCK_SIZE = 128;

/** Copies steps `[env, ...shape]` of one array field to rows apart. */
export class StepWriter {
  readonly #data: FieldArray;
  readonly #size: number;
  /** The array that `#rows` are views of. */
  #source?: ArrayLike<number>;
  /** Rows of the last step that was written in blocks, `[env]`. */
  #rows: readonly FieldArray[] = [];

  constructor(data: FieldArray, size: number) {
    this.#data = data;
    this.#size = size;
  }

  write(values: ArrayLike<number>, { numEnvs, stride, offset }: Place): void {
    const data = this.#data, size = this.#size;
    const isBlock = size >= BLOCK_SIZE && ArrayBuffer.isView(values);
    if (isBlock) this.#viewRows(values as FieldArray);
    for (let env = 0; env < numEnvs; env++) {
      const from = env * size;
      const to = (env * stride + offset) * size;
      if (isBlock) data.set(this.#rows[env], to);
      else for (let i = 0; i < size; i++) data[to + i] = values[from + i];
    }
  }

  /** Environments reuse their arrays, and then the views of rows serve again. */
  #viewRows(values: FieldArray): void {
    if (this.#source === values) return;
    const size = this.#size;
    this.#source = values;
    this.#rows = Array.from(
      { length: values.length / size },
      (_, env) => values.subarray(env * size, (env + 1) * size),
    );
  }
}
