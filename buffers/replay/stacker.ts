import kernelBytes from "./_stack_kernel.json" with { type: "json" };
import { type Units, unitsOf } from "../copy.ts";
import { ARRAYS, type FieldArray } from "../fields.ts";
import { type FieldRows, FINAL, ZEROS } from "./rows.ts";

/** An array of a batch. */
export interface Target {
  readonly array: FieldArray;
  /** The same memory. */
  readonly units: Units;
}

/** Stacks of one array of a batch. */
export interface Stacks {
  /**
   * The rows of their frames, `[row, frame]`, of which there may be more than
   * this array takes: those are the oldest.
   */
  readonly rows: Int32Array;
  readonly target: Target;
  /** The rows of its final values. */
  readonly finals?: Units;
}

/** Puts the stacks of arrays of a batch together from the rows of one field. */
export class Stacker {
  readonly #rows: FieldRows;
  readonly #shape: StackShape;
  /** Start of each frame of the current stack, in units. */
  readonly #starts: Float64Array;
  /** Frames of a stack that do not all lie in rows in memory. */
  readonly #apart: Target;
  /** True where four frames of single bytes are interleaved, in WebAssembly. */
  readonly #isFourBytes: boolean;

  constructor(rows: FieldRows, frames: number) {
    const { shape, size, dtype } = rows.leaf;
    const pixels = shape.length === 0 ? 1 : size / shape.at(-1)!;
    const channels = rows.unitSize / pixels;
    this.#rows = rows;
    this.#shape = { frames, pixels, channels };
    this.#starts = new Float64Array(frames);
    this.#isFourBytes = dtype === "uint8" && frames === FRAMES &&
      channels === 1 && size >= LEAST_PIXELS;
    const array = new ARRAYS[dtype](frames * size);
    this.#apart = { array, units: unitsOf(array) };
  }

  /**
   * Writes the stacks of some arrays, all of as many rows. Where a stack has lost
   * the oldest frame of the one before, row by row and array by array, the other
   * frames are read once.
   */
  gather(all: readonly Stacks[]): void {
    const { frames } = this.#shape;
    const [{ target }] = all;
    const batch = target.array.length / (frames * this.#rows.leaf.size);
    const kernel = this.#isFourBytes ? stackKernel() : undefined;
    kernel?.begin(this.#rows);
    for (let i = 0; i < batch; i++) {
      for (let k = 0; k < all.length; k++) {
        const { rows, target, finals } = all[k];
        const first = (i + 1) * (rows.length / batch) - frames;
        if (kernel !== undefined) kernel.stack(all[k], first, i);
        else this.#stack(rows, first, { target, finals, at: i });
      }
    }
  }

  #stack(
    rows: Int32Array,
    first: number,
    { target, finals, at }: { target: Target; finals?: Units; at: number },
  ): void {
    const { frames } = this.#shape, { unitSize } = this.#rows;
    let isApart = this.#rows.data === undefined;
    for (let frame = 0; frame < frames; frame++) {
      const row = rows[first + frame];
      if (row < 0) isApart = true;
      this.#starts[frame] = row * unitSize;
    }
    if (isApart) {
      for (let frame = 0; frame < frames; frame++) {
        const to = frame * this.#rows.leaf.size;
        const place = { ...this.#apart, to };
        copyFrame(this.#rows, rows[first + frame], { place, finals });
        this.#starts[frame] = frame * unitSize;
      }
    }
    const source = isApart ? this.#apart.units : this.#rows.units;
    const to = at * frames * unitSize;
    stackFrames(source, this.#starts, target.units, { to, shape: this.#shape });
  }
}

/** Copies a frame, wherever it is, to number `to` of an array. */
function copyFrame(
  { units, data, column, unitSize, leaf }: FieldRows,
  row: number,
  { place, finals }: {
    place: Target & { readonly to: number };
    finals: Units | undefined;
  },
): void {
  const to = place.to / leaf.size * unitSize;
  if (row === ZEROS) place.units.fill(0, to, to + unitSize);
  else if (row >= 0 && data === undefined) {
    column.read(row, place.array, place.to);
  } else {
    const source = row >= 0 ? units : finals!;
    const from = (row >= 0 ? row : FINAL - row) * unitSize;
    place.units.set(source.subarray(from, from + unitSize), to);
  }
}

/** Shape of a stack, in units. */
interface StackShape {
  readonly frames: number;
  /** Places of a frame that its channels lie together at. */
  readonly pixels: number;
  /** Units of a pixel. */
  readonly channels: number;
}

/** Units of a pixel from which on a copy as a block is faster. */
const BLOCK_UNITS = 128;

/**
 * Puts frames together along their last axis: each begins at one of the starts,
 * the stack at `to`.
 */
function stackFrames(
  source: Units,
  starts: Float64Array,
  target: Units,
  { to, shape }: { to: number; shape: StackShape },
): void {
  const { frames, channels } = shape;
  for (let frame = 0; frame < frames; frame++) {
    const first = to + frame * channels, from = starts[frame];
    if (channels >= BLOCK_UNITS) {
      spreadBlocks(source, from, target, first, shape);
    } else if (source instanceof Uint8Array) {
      spreadBytes(source, from, target as Uint8Array, first, shape);
    } else spreadWords(source, from, target as Int32Array, first, shape);
  }
}

function spreadBlocks(
  source: Units,
  from: number,
  target: Units,
  to: number,
  { frames, pixels, channels }: StackShape,
): void {
  for (let p = 0; p < pixels; p++) {
    target.set(source.subarray(from, from + channels), to);
    from += channels;
    to += frames * channels;
  }
}

function spreadBytes(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  { frames, pixels, channels }: StackShape,
): void {
  const skip = (frames - 1) * channels;
  for (let p = 0; p < pixels; p++, to += skip) {
    for (let c = 0; c < channels; c++) target[to++] = source[from++];
  }
}

function spreadWords(
  source: Int32Array,
  from: number,
  target: Int32Array,
  to: number,
  { frames, pixels, channels }: StackShape,
): void {
  const skip = (frames - 1) * channels;
  for (let p = 0; p < pixels; p++, to += skip) {
    for (let c = 0; c < channels; c++) target[to++] = source[from++];
  }
}

/** Frames of a stack that the kernel makes. */
const FRAMES = 4;

/** Pixels of a frame from which on the kernel is faster. */
const LEAST_PIXELS = 64;

/** Frames that there is room for; the last four make the current stack. */
const PLACES = 8;

/** Bytes that the kernel may write after the end. */
const SPARE_BYTES = 64;

const PAGE_BYTES = 65536;

interface KernelExports {
  interleave(
    a: number,
    b: number,
    c: number,
    d: number,
    out: number,
    size: number,
  ): void;
}

/**
 * Interleaves frames 16 pixels at a time. WebAssembly reaches its own memory
 * only: frames are copied into it, and each stack out of it while it is in the
 * processor's cache.
 */
class StackKernel {
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #interleave: KernelExports["interleave"];
  #bytes = new Uint8Array(this.#memory.buffer);
  /** The finished stack. */
  #out = this.#bytes;
  #rows!: FieldRows;
  /** The row of each frame of the current stack, and the place that it is at. */
  readonly #present = new Int32Array(FRAMES);
  readonly #places = new Int32Array(FRAMES);

  constructor() {
    const bytes = Uint8Array.from(
      atob(kernelBytes.wasm),
      (character) => character.charCodeAt(0),
    );
    const module = new WebAssembly.Module(bytes);
    const env = { memory: this.#memory };
    const { exports } = new WebAssembly.Instance(module, { env });
    this.#interleave = (exports as unknown as KernelExports).interleave;
  }

  /** Makes room for frames of a field; none has been read yet. */
  begin(rows: FieldRows): void {
    const { size } = rows.leaf, start = PLACES * size;
    const wanted = start + FRAMES * size + SPARE_BYTES;
    const missing = wanted - this.#bytes.length;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE_BYTES));
    if (missing > 0 || this.#out.byteOffset !== start) {
      this.#bytes = new Uint8Array(this.#memory.buffer);
      this.#out = this.#bytes.subarray(start, start + FRAMES * size);
    }
    this.#rows = rows;
    this.#present.fill(ZEROS);
  }

  /** Writes stack `at`, the rows of whose frames begin at `first`. */
  stack({ rows, target, finals }: Stacks, first: number, at: number): void {
    const { size } = this.#rows.leaf, places = this.#places;
    if (this.#isNext(rows, first)) {
      const place = (places[FRAMES - 1] + 1) % PLACES;
      places.copyWithin(0, 1);
      this.#copy(rows[first + FRAMES - 1], place, finals);
      places[FRAMES - 1] = place;
    } else this.#copyAll(rows, first, finals);
    for (let k = 0; k < FRAMES; k++) this.#present[k] = rows[first + k];
    this.#interleave(
      places[0] * size,
      places[1] * size,
      places[2] * size,
      places[3] * size,
      PLACES * size,
      size,
    );
    target.units.set(this.#out, at * FRAMES * size);
  }

  /** True where a stack follows the current one by one frame. */
  #isNext(rows: Int32Array, first: number): boolean {
    const present = this.#present;
    for (let k = 0; k < FRAMES - 1; k++) {
      // A row below 0 is another frame in another stack.
      if (rows[first + k] < 0 || rows[first + k] !== present[k + 1]) {
        return false;
      }
    }
    return true;
  }

  #copyAll(
    rows: Int32Array,
    first: number,
    finals: Units | undefined,
  ): void {
    const { data, units, unitSize } = this.#rows, row = rows[first];
    let isRun = data !== undefined && row >= 0;
    for (let k = 0; k < FRAMES; k++) {
      this.#places[k] = k;
      isRun &&= rows[first + k] === row + k;
    }
    if (isRun) {
      const start = row * unitSize;
      this.#bytes.set(units.subarray(start, start + FRAMES * unitSize));
      return;
    }
    for (let k = 0; k < FRAMES; k++) this.#copy(rows[first + k], k, finals);
  }

  #copy(row: number, at: number, finals: Units | undefined): void {
    const to = at * this.#rows.leaf.size;
    const place = { array: this.#bytes, units: this.#bytes, to };
    copyFrame(this.#rows, row, { place, finals });
  }
}

let kernel: StackKernel | null | undefined;

/** Returns the kernel; none where the engine has no WebAssembly with vectors. */
function stackKernel(): StackKernel | undefined {
  if (kernel === undefined) {
    try {
      kernel = new StackKernel();
    } catch { // Pages may forbid it; others make stacks byte by byte.
      kernel = null;
    }
  }
  return kernel ?? undefined;
}
