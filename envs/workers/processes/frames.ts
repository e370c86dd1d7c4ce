/**
 * A message in a pipe: eight bytes that no text holds, its length in four bytes
 * (little-endian), the message. What comes between two messages is something
 * that was printed.
 */

/** The bytes that a message begins with. */
export const FRAME_MARK: Uint8Array = Uint8Array.from(
  "\xf5BLM\0\xff\x1a\xfe",
  (it) => it.charCodeAt(0),
);

/** Bytes before the message itself. */
export const FRAME_HEADER = 12;

/** Writes mark and length to the beginning of `target`. */
export function writeFrameHeader(target: Uint8Array, length: number): void {
  target.set(FRAME_MARK);
  for (let i = 0; i < 4; i++) target[8 + i] = length >>> 8 * i;
}

/** The longest message, as lengths are 32-bit words. */
const LONGEST = 2 ** 30;

/** Joins parts of a message behind its mark and length. */
export function frameOf(
  ...parts: readonly Uint8Array[]
): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length > LONGEST) {
    throw new RangeError(
      `Cannot send ${length} bytes to another process: expected at most ${LONGEST}`,
    );
  }
  const frame = new Uint8Array(FRAME_HEADER + length);
  writeFrameHeader(frame, length);
  let at = FRAME_HEADER;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}

/** Receiver of what a stream holds. */
export interface FrameSink {
  /** Takes a message, in separate memory. */
  message(bytes: Uint8Array<ArrayBuffer>): void;
  /** Takes something that is no message. */
  stray(bytes: Uint8Array): void;
}

/** Takes messages out of the pieces in which a pipe gives them. */
export class FrameReader {
  #sink: FrameSink;
  #header = new Uint8Array(FRAME_HEADER);
  /** Bytes of the header so far. */
  #headed = 0;
  #message = new Uint8Array(0);
  /** Bytes of the message so far. */
  #filled = 0;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Reads a piece, which may be overwritten afterwards. */
  read(piece: Uint8Array): void {
    for (let at = 0; at < piece.length;) {
      if (this.#headed < FRAME_HEADER) {
        at = this.#readHeader(piece, at);
        if (this.#headed < FRAME_HEADER) continue;
        const { buffer } = this.#header;
        const length = new DataView(buffer).getUint32(8, true);
        this.#message = new Uint8Array(length);
      }
      at = this.#readPart(piece, at);
    }
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
    const message = this.#message;
    const end = Math.min(piece.length, at + message.length - this.#filled);
    message.set(piece.subarray(at, end), this.#filled);
    this.#filled += end - at;
    if (this.#filled === message.length) {
      this.#headed = this.#filled = 0;
      this.#sink.message(message);
    }
    return end;
  }
}
