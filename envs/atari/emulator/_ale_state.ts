import { crc32 } from "node:zlib";
import type { Emulator } from "./_native_ale.ts";

/**
 * The emulator's saved states, and what they lack. Not in them are:
 *
 * - whether the emulator is in the midst of a frame: a game that computes for
 *   long ends none for a while, and loaded into an emulator that thinks otherwise
 *   its next frame would be cut differently;
 * - where ball and missiles are drawn, which follows from registers that are in
 *   them, but only when some of these are written to.
 *
 * Before a state is loaded, the emulator therefore runs a small program on the
 * registers of that state, which writes to them and ends a frame, or does not.
 *
 * The states' layout is the one of ALE's `Serializer`: whole numbers of four
 * bytes, the lowest first, and strings after their length.
 */

const SERIALIZED_AT = 8 * 4;
const PADDLE_LIMITS = 2 * 4;
const STOPPED = 1;
const NOOP = 0;

/** A place in a state, read and written one number after the other. */
class Cursor {
  #view: DataView<ArrayBuffer>;
  at: number;

  constructor(bytes: Uint8Array<ArrayBuffer>, at: number) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = at;
  }

  int(): number {
    this.at += 4;
    return this.#view.getInt32(this.at - 4, true);
  }

  setInt(value: number): void {
    this.#view.setInt32(this.at, value, true);
    this.at += 4;
  }

  string(): string {
    const length = this.int();
    this.at += length;
    const bytes = new Uint8Array(
      this.#view.buffer,
      this.#view.byteOffset + this.at - length,
      length,
    );
    return String.fromCharCode(...bytes);
  }
}

/** Finds the beginning of the processor's registers. */
function processor(state: Uint8Array<ArrayBuffer>): Cursor {
  const cursor = new Cursor(state, SERIALIZED_AT);
  cursor.int(); // The length of the rest.
  cursor.int(); // Whether the random stream is there.
  cursor.string(); // The ROM's MD5.
  cursor.string(); // "System".
  cursor.int(); // Cycles.
  cursor.string(); // The processor's name.
  return cursor;
}

/**
 * True where a state is in the midst of a frame: the processor ran out of
 * instructions, where at a frame's end it is stopped.
 */
export function isMidFrame(state: Uint8Array<ArrayBuffer>): boolean {
  const cursor = processor(state);
  cursor.at += (6 + 7) * 4; // Registers and flags.
  return (cursor.int() & STOPPED) === 0;
}

/**
 * Checks that bytes are a saved state of a game, as it was saved, since the
 * library ends the process on others.
 *
 * @param state The bytes.
 * @param expected The game's MD5, and what `checksum` told of the state.
 * @throws {TypeError} If they are none.
 */
export function checkState(
  state: unknown,
  { md5, crc }: { md5: string; crc: unknown },
): asserts state is Uint8Array<ArrayBuffer> {
  try {
    const bytes = state as Uint8Array<ArrayBuffer>;
    const cursor = new Cursor(bytes, SERIALIZED_AT);
    const end = SERIALIZED_AT + 4 + cursor.int() + PADDLE_LIMITS;
    cursor.int();
    const isWhole = end === bytes.length && crc32(bytes) === crc;
    if (isWhole && cursor.string() === md5) return;
  } catch {
    // Too short or no bytes at all.
  }
  throw new TypeError("Cannot restore an emulator: its state is broken");
}

/** Saves the whole state, random stream of the emulator included. */
export function saveState(
  { symbols, handle }: Emulator,
): Uint8Array<ArrayBuffer> {
  const state = symbols.cloneSystemState(handle);
  const bytes = new Uint8Array(symbols.encodeStateLen(state));
  symbols.encodeState(state, bytes, bytes.length);
  symbols.deleteState(state);
  return bytes;
}

function loadBytes(
  { symbols, handle }: Emulator,
  bytes: Uint8Array<ArrayBuffer>,
): void {
  const state = symbols.decodeState(bytes, bytes.length);
  symbols.restoreSystemState(handle, state);
  symbols.deleteState(state);
}

/** Finds the data of a part of the console by its name. */
function after(name: string, state: Uint8Array<ArrayBuffer>): Cursor {
  for (let at = SERIALIZED_AT; at < state.length - name.length; at++) {
    const cursor = new Cursor(state, at);
    if (state[at] !== name.length || cursor.int() !== name.length) continue;
    cursor.at = at;
    if (cursor.string() === name) return cursor;
  }
  throw new TypeError(`Cannot restore an emulator: its state has no ${name}`);
}

const LDA = 0xa9, STA = 0x85, JMP = 0x4c;
const VSYNC = 0x00, WSYNC = 0x02, NUSIZ0 = 0x04, NUSIZ1 = 0x05, CTRLPF = 0x0a;
/** The address of the first byte of memory. */
const MEMORY = 0x80;

/**
 * Assembles a program that writes the sizes of missiles and ball to where they
 * are, and then ends the frame or lets it never end.
 */
function program(state: Uint8Array<ArrayBuffer>, endsFrame: boolean): number[] {
  const video = after("TIA", state);
  video.at += 11 * 4; // Clocks, lines, and what is switched on.
  const [sizes0, sizes1] = [video.int(), video.int()];
  video.at += 4 * 4; // Colours.
  const sizeOfBall = video.int();
  const writes = [[NUSIZ0, sizes0], [NUSIZ1, sizes1], [CTRLPF, sizeOfBall]];
  const code = writes.flatMap(([to, value]) => [LDA, value & 0xff, STA, to]);
  if (endsFrame) {
    // The signal must be on for a line at least.
    code.push(LDA, 2, STA, VSYNC, STA, WSYNC, STA, WSYNC);
    code.push(LDA, 0, STA, VSYNC);
  }
  return [...code, JMP, MEMORY + code.length, 0];
}

/** Runs the program on a state's registers. */
function runProgram(
  emulator: Emulator,
  state: Uint8Array<ArrayBuffer>,
  endsFrame: boolean,
): void {
  const altered = state.slice();
  const memory = after("M6532", altered);
  memory.int(); // Its size.
  for (const byte of program(state, endsFrame)) memory.setInt(byte);
  const registers = processor(altered);
  registers.at += 5 * 4;
  registers.setInt(MEMORY);
  loadBytes(emulator, altered);
  emulator.symbols.act(emulator.handle, NOOP);
}

/**
 * Resumes exactly from a state.
 *
 * @param emulator Any emulator of the same game.
 * @param state The state that `saveState` returned.
 */
export function loadState(
  emulator: Emulator,
  state: Uint8Array<ArrayBuffer>,
): void {
  const { symbols, handle } = emulator;
  let isOpen = isMidFrame(saveState(emulator));
  let base = state;
  loadBytes(emulator, state);
  if (symbols.game_over(handle)) {
    // A game that has ended does not act, so another state must do: what it
    // draws is no matter.
    symbols.reset_game(handle);
    base = saveState(emulator);
    isOpen = isMidFrame(base);
  }
  // After a long computation, the first write ends the frame already.
  if (isOpen) runProgram(emulator, base, true);
  runProgram(emulator, base, !isMidFrame(state));
  loadBytes(emulator, state);
}
