import type { InputFile } from "./_files.ts";

/** Where bytes come from, in order. */
export interface ByteSource {
  /** Fills an array, and says how much of it: less only at the end. */
  fill(target: Uint8Array): Promise<number>;
}

/** Bytes of a file that a stream gives at once. */
const PIECE_BYTES = 1 << 20;

/** The bytes of a stream. */
export class StreamSource implements ByteSource {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader;
  }

  async fill(target: Uint8Array): Promise<number> {
    let filled = 0;
    while (filled < target.length) {
      if (this.#rest.length === 0) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        if (!(value instanceof Uint8Array)) {
          throw new TypeError(
            `Cannot load a stream of ${typeof value}: expected a stream of Uint8Array`,
          );
        }
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, target.length - filled);
      target.set(part, filled);
      filled += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return filled;
  }
}

/** The bytes of a file from a position on, as many as `length` at most. */
export class FileSource implements ByteSource {
  readonly #file: InputFile;
  #position: number;
  readonly #end: number;

  constructor(file: InputFile, position = 0, length = Infinity) {
    this.#file = file;
    this.#position = position;
    this.#end = position + length;
  }

  async fill(target: Uint8Array): Promise<number> {
    const part = target.subarray(0, this.#end - this.#position);
    const length = await this.#file.read(this.#position, part);
    this.#position += length;
    return length;
  }

  /** What is left of it, in pieces. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream({
      pull: async (controller) => {
        const piece = new Uint8Array(PIECE_BYTES);
        const length = await this.fill(piece);
        if (length > 0) controller.enqueue(piece.subarray(0, length));
        if (length < piece.length) controller.close();
      },
    }, { highWaterMark: 0 });
  }
}
