/**
 * A message in a pipe: eight bytes that no text holds, its length in four bytes
 * (little-endian), the message. What comes between two messages is something
 * that was printed.
 */

/** The bytes that a message begins with. */
export const FRAME_MARK: Uint8Array = Uint8Array.fromHex("f5424c4d00ff1afe");

/** Bytes before the message itself. */
export const FRAME_HEADER = 12;

/** Writes mark and length to the beginning of `target`. */
export function writeFrameHeader(target: Uint8Array, length: number): void {
  target.set(FRAME_MARK);
  for (let i = 0; i < 4; i++) target[8 + i] = length >>> 8 * i;
}

/** Receiver of the parts of a stream. */
export interface FrameSink {
  /** Begins a message of this length; nothing is read until this is done. */
  begin(length: number): void | Promise<void>;
  /** Takes the next part of the message, and its place in it. */
  part(bytes: Uint8Array, at: number): void;
  /** Ends the message. */
  end(length: number): void;
  /** Takes something that is no message. */
  stray(bytes: Uint8Array): void;
}

/** Takes messages out of the pieces in which a pipe gives them. */
export class FrameReader {
  #sink: FrameSink;
  #header = new Uint8Array(FRAME_HEADER);
  /** Bytes of the header so far. */
  #headed = 0;
  #length = 0;
  /** Bytes of the message so far. */
  #filled = 0;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /**
   * Reads a piece, which may be overwritten once that is done: at once, but where
   * a message has to wait for room.
   */
  read(piece: Uint8Array, from = 0): void | Promise<void> {
    let at = from;
    while (at < piece.length) {
      if (this.#headed < FRAME_HEADER) {
        at = this.#readHeader(piece, at);
        if (this.#headed < FRAME_HEADER) continue;
        this.#length = new DataView(this.#header.buffer).getUint32(8, true);
        const room = this.#sink.begin(this.#length);
        if (room !== undefined) return this.#readLater(piece, at, room);
      }
      at = this.#readPart(piece, at);
    }
  }

  async #readLater(
    piece: Uint8Array,
    at: number,
    room: Promise<void>,
  ): Promise<void> {
    await room;
    await this.read(piece, this.#readPart(piece, at));
  }

  /** Reads towards a whole header; stops after one byte that belongs to none. */
  #readHeader(piece: Uint8Array, from: number): number {
    let at = from;
    while (at < piece.length && this.#headed < FRAME_HEADER) {
      const byte = piece[at], i = this.#headed;
      if (i < FRAME_MARK.length && byte !== FRAME_MARK[i]) {
        return this.#stray(piece, at);
      }
      this.#header[this.#headed++] = byte;
      at++;
    }
    return at;
  }

  /**
   * Handles what looked like a mark: it was printed, as was all up to the next
   * one.
   */
  #stray(piece: Uint8Array, at: number): number {
    if (this.#headed > 0) {
      this.#sink.stray(this.#header.slice(0, this.#headed));
      this.#headed = 0;
      return at;
    }
    const next = piece.indexOf(FRAME_MARK[0], at);
    const end = next < 0 ? piece.length : next;
    this.#sink.stray(piece.subarray(at, end));
    return end;
  }

  #readPart(piece: Uint8Array, at: number): number {
    const end = Math.min(piece.length, at + this.#length - this.#filled);
    this.#sink.part(piece.subarray(at, end), this.#filled);
    this.#filled += end - at;
    if (this.#filled === this.#length) {
      this.#headed = this.#filled = 0;
      this.#sink.end(this.#length);
    }
    return end;
  }
}
