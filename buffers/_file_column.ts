import type { RecordStore } from "./_record_store.ts";
import type { FieldArray } from "./field.ts";
import type { Column } from "./storage.ts";

/** What a column needs of its storage. */
export interface FileAccess {
  /** The records; throws where the file is closed or has other columns. */
  readonly open: () => RecordStore;
  /** Bytes of memory that are a column's share. */
  readonly share: () => number;
  readonly close: () => void;
}

/** The numbers of one field in all records of a file. */
export class FileColumn implements Column {
  /** Its rows outlive the process. */
  readonly persistent = true;
  readonly #index: number;
  readonly #access: FileAccess;

  constructor(index: number, access: FileAccess) {
    this.#index = index;
    this.#access = access;
  }

  get byteLength(): number {
    return this.#access.share();
  }

  write(row: number, values: ArrayLike<number>): void {
    this.#access.open().write(this.#index, row, values);
  }

  read(row: number, into: FieldArray, at: number): void {
    this.#access.open().read(this.#index, row, into, at);
  }

  /** A file grows when it is written. */
  resize(): void {}

  close(): void {
    this.#access.close();
  }
}
