import type { ReplayCore } from "./_replay_core.ts";
import { collect, type Purpose } from "./_schema.ts";
import type { Accumulator } from "./accumulator.ts";
import type { FieldValues } from "./field.ts";

/** Numbers by field. */
type Values = { readonly [field: string]: FieldValues };

/** Checks what a replay buffer is given, and writes it if all of it fits. */
export class RowIntake {
  readonly #core: ReplayCore;
  readonly #accumulator: Accumulator | undefined;
  readonly #adding: Purpose;
  /** The arrays of the rows that are added. */
  readonly #values: ArrayLike<number>[] = [];

  constructor(core: ReplayCore, accumulator: Accumulator | undefined) {
    this.#core = core;
    this.#accumulator = accumulator;
    this.#adding = { action: "add", rows: core.numEnvs };
  }

  /** Takes one step of all streams. */
  addStep(step: Values): void {
    if (this.#accumulator === undefined) this.#add(step, this.#adding);
    else this.#addFinished(this.#accumulator, this.#accumulator.add(step));
  }

  /** Takes rows that no accumulator has to see. */
  addRows(rows: Values, count: number): void {
    this.#checkCount(count);
    this.#add(rows, { action: "add", rows: count });
  }

  /** Takes what an accumulator holds, and ends the episodes of the newest step. */
  interrupt(): void {
    const accumulator = this.#accumulator;
    if (accumulator) this.#addFinished(accumulator, accumulator.flush());
    this.#core.parts.writer.truncate();
  }

  /** An accumulator's arrays have room for more rows than those it finished. */
  #addFinished({ rows }: Accumulator, count: number): void {
    this.#checkCount(count);
    if (count > 0) {
      this.#add(rows, { action: "add", rows: count, atLeast: true });
    }
  }

  #add(values: Values, purpose: Purpose): void {
    const { added } = this.#core.parts.schema;
    collect(added.root, values, purpose, this.#values);
    this.#core.write(this.#values, purpose.rows);
  }

  #checkCount(count: number): void {
    const { numEnvs } = this.#core.parts.writer.ring;
    if (Number.isSafeInteger(count) && count >= 0 && count % numEnvs === 0) {
      return;
    }
    throw new RangeError(
      `Cannot add ${count} rows: expected a whole multiple of ${numEnvs}`,
    );
  }
}
