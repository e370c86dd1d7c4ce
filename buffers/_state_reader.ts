import type { ByteSource } from "./_byte_source.ts";
import { crc32c } from "./_crc.ts";
import {
  addToDigest,
  type ChunkType,
  DONE_BYTES,
  HEADER_BYTES,
  MAGIC,
  MAX_PAYLOAD_BYTES,
  PREAMBLE_BYTES,
  VERSION,
} from "./_state_chunks.ts";
import { bytesOf, joinState } from "./_state_tree.ts";
import type { PlainState } from "./plain_state.ts";

/** A chunk's header. */
interface Header {
  readonly type: string;
  readonly length: number;
  readonly crc: number;
  /** The checksum of type and length, which the payload's continues. */
  readonly start: number;
}

const TYPES: readonly string[] = ["TREE", "DATA", "DONE"] satisfies ChunkType[];

/** Reads the form that `_state_chunks.ts` describes. Nothing in it is trusted. */
export class StateReader {
  readonly #source: ByteSource;
  readonly #name: string;
  #position = 0;
  #chunks = 0;
  #digest = 0;

  constructor(source: ByteSource, name: string) {
    this.#source = source;
    this.#name = name;
  }

  async read(): Promise<PlainState> {
    await this.#readPreamble();
    let header = await this.#readHeader();
    const tree: Uint8Array[] = [];
    for (; header.type === "TREE"; header = await this.#readHeader()) {
      const payload = new Uint8Array(header.length);
      await this.#readPayload(header, [payload]);
      tree.push(payload);
    }
    const { state, arrays } = this.#join(tree);
    const targets = new Targets(arrays.map(bytesOf));
    for (; header.type === "DATA"; header = await this.#readHeader()) {
      const views = targets.take(header.length);
      if (views === undefined) this.#fail("it holds more data than it says");
      await this.#readPayload(header, views);
    }
    await this.#readDone(header);
    if (!targets.filled) this.#fail("it holds less data than it says");
    return state;
  }

  async #readPreamble(): Promise<void> {
    const preamble = new Uint8Array(PREAMBLE_BYTES);
    const length = await this.#source.fill(preamble);
    if (length === 0) this.#fail("it is empty, expected a saved buffer");
    const known = Math.min(length, MAGIC.length);
    if (preamble.subarray(0, known).some((byte, i) => byte !== MAGIC[i])) {
      const hex = (bytes: Uint8Array) =>
        [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
      const start = hex(preamble.subarray(0, known));
      this.#fail(`it starts with ${start}, a saved buffer with ${hex(MAGIC)}`);
    }
    this.#count(length, PREAMBLE_BYTES);
    const view = new DataView(preamble.buffer);
    const crc = view.getUint32(12, true);
    this.#check(crc32c(preamble.subarray(0, 12)), crc, "its preamble");
    const version = view.getUint32(8, true);
    if (version > VERSION || version < 1) {
      throw new RangeError(
        `Cannot load ${this.#name}: its format is version ${version}, expected ${VERSION}`,
      );
    }
  }

  async #readHeader(): Promise<Header> {
    const bytes = new Uint8Array(HEADER_BYTES);
    await this.#fill(bytes);
    const view = new DataView(bytes.buffer);
    const length = view.getUint32(4, true);
    if (length > MAX_PAYLOAD_BYTES) {
      this.#fail(
        `it is damaged: chunk ${this.#chunks} claims ${length} bytes, expected at most ${MAX_PAYLOAD_BYTES}`,
      );
    }
    const type = String.fromCharCode(...bytes.subarray(0, 4));
    if (!TYPES.includes(type)) {
      this.#fail(
        `it is damaged: chunk ${this.#chunks} is ${
          JSON.stringify(type)
        }, expected one of ${TYPES.join(", ")}`,
      );
    }
    return {
      type,
      length,
      crc: view.getUint32(8, true),
      start: crc32c(bytes.subarray(0, 8)),
    };
  }

  async #readPayload(
    { crc, start }: Header,
    targets: readonly Uint8Array[],
  ): Promise<void> {
    let actual = start;
    for (const target of targets) {
      await this.#fill(target);
      actual = crc32c(target, actual);
    }
    this.#check(actual, crc, `chunk ${this.#chunks}`);
    this.#chunks++;
  }

  async #readDone(header: Header): Promise<void> {
    if (header.type !== "DONE" || header.length !== DONE_BYTES) {
      const { type, length } = header;
      this.#fail(
        `it ends with ${type} of ${length} bytes, expected DONE of ${DONE_BYTES}`,
      );
    }
    const before = this.#position - HEADER_BYTES;
    const digest = this.#digest;
    const payload = new DataView(new ArrayBuffer(DONE_BYTES));
    await this.#readPayload(header, [bytesOf(payload)]);
    const claimed = payload.getFloat64(0, true);
    if (claimed !== before) {
      this.#fail(`${before} bytes precede its end, expected ${claimed}`);
    }
    this.#check(digest, payload.getUint32(8, true), "the whole");
    if (await this.#source.fill(new Uint8Array(1)) > 0) {
      this.#fail(`other bytes follow its end at ${this.#position}`);
    }
  }

  #join(tree: readonly Uint8Array[]): ReturnType<typeof joinState> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    try {
      const texts = tree.map((bytes) =>
        decoder.decode(bytes, { stream: true })
      );
      return joinState(texts.join("") + decoder.decode());
    } catch (error) {
      const reason = (error as Error).message;
      if (error instanceof RangeError) {
        throw new RangeError(`Cannot load ${this.#name}: ${reason}`);
      }
      return this.#fail(`its description cannot be read: ${reason}`);
    }
  }

  async #fill(target: Uint8Array): Promise<void> {
    this.#count(await this.#source.fill(target), target.length);
  }

  #count(length: number, wanted: number): void {
    this.#position += length;
    if (length === wanted) return;
    this.#fail(
      `it is cut off after ${this.#position} bytes, expected at least ${
        wanted - length
      } more`,
    );
  }

  #check(actual: number, wanted: number, what: string): void {
    this.#digest = addToDigest(this.#digest, actual);
    if (actual === wanted) return;
    const hex = (crc: number) => crc.toString(16).padStart(8, "0");
    this.#fail(
      `it is damaged before byte ${this.#position}: the checksum of ${what} is ${
        hex(actual)
      }, expected ${hex(wanted)}`,
    );
  }

  #fail(what: string): never {
    throw new SyntaxError(`Cannot load ${this.#name}: ${what}`);
  }
}

/** The bytes of arrays that are to be filled one after the other. */
class Targets {
  readonly #arrays: readonly Uint8Array[];
  #index = 0;
  #offset = 0;

  constructor(arrays: readonly Uint8Array[]) {
    this.#arrays = arrays.filter((bytes) => bytes.length > 0);
  }

  get filled(): boolean {
    return this.#index === this.#arrays.length;
  }

  /** Views of the next bytes; nothing where there are not so many. */
  take(length: number): Uint8Array[] | undefined {
    const views: Uint8Array[] = [];
    for (let rest = length; rest > 0;) {
      if (this.filled) return undefined;
      const array = this.#arrays[this.#index];
      const view = array.subarray(this.#offset, this.#offset + rest);
      views.push(view);
      rest -= view.length;
      this.#offset += view.length;
      if (this.#offset < array.length) continue;
      this.#index++;
      this.#offset = 0;
    }
    return views;
  }
}
