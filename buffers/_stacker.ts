import { allocateArray } from "./_arrays.ts";
import { type Units, unitsOf, wordsOf } from "./_copy_rows.ts";
import { type Episodes, SIDE, ZEROS } from "./_episodes.ts";
import {
  stackFourBytes,
  stackFrames,
  type StackShape,
} from "./_frame_stack.ts";
import type { LeafRows } from "./_leaf_rows.ts";
import type { FieldArray } from "./field.ts";

/** An array of a batch. */
export interface Target {
  readonly array: FieldArray;
  /** The same memory. */
  readonly units: Units;
  /** The same memory, where it is bytes that may be written as words. */
  readonly words: Int32Array | undefined;
}

/** Where frames that are kept at the side are found. */
export interface Aside {
  readonly episodes: Episodes;
  /** Which of the leaves at the side. */
  readonly side: number;
  /** The last row that each stack of the batch goes up to. */
  readonly last: Int32Array;
}

/** Puts the stacks of one array of a batch together. */
export class Stacker {
  readonly #rows: LeafRows;
  readonly #shape: StackShape;
  /** Where the frames of the present stack begin, in units. */
  readonly #starts: Float64Array;
  /** The frames of a stack that do not all lie in rows in memory. */
  readonly #apart: FieldArray;
  readonly #apartUnits: Units;
  readonly #apartWords: Int32Array | undefined;
  /** Whether frames are single bytes, which are moved four at a time. */
  readonly #isFourBytes: boolean;

  constructor(rows: LeafRows, frames: number) {
    const { shape, size, dtype } = rows.leaf;
    const pixels = shape.length === 0 ? 1 : size / shape.at(-1)!;
    const channels = rows.unitSize / pixels;
    this.#rows = rows;
    this.#shape = { frames, pixels, channels };
    this.#starts = new Float64Array(frames);
    this.#apart = allocateArray(dtype, frames * size);
    this.#apartUnits = unitsOf(this.#apart);
    this.#apartWords = wordsOf(this.#apartUnits);
    this.#isFourBytes = dtype === "uint8" && frames === 4 && channels === 1 &&
      size % 4 === 0;
  }

  /**
   * Writes the stacks of a batch from their rows, `[row, frame]`, of which there
   * may be more than this array takes: those are the oldest.
   */
  gather(stacks: Int32Array, target: Target, aside?: Aside): void {
    const { frames } = this.#shape;
    const batch = target.array.length / (frames * this.#rows.leaf.size);
    const longest = stacks.length / batch;
    for (let i = 0; i < batch; i++) {
      const first = (i + 1) * longest - frames;
      const isApart = this.#findStarts(stacks, first);
      if (isApart) this.#setApart(stacks, first, { aside, at: i });
      this.#stack(target, i, isApart);
    }
  }

  #findStarts(stacks: Int32Array, first: number): boolean {
    const { frames } = this.#shape, { unitSize } = this.#rows;
    let isApart = this.#rows.data === undefined;
    for (let frame = 0; frame < frames; frame++) {
      const row = stacks[first + frame];
      if (row < 0) isApart = true;
      this.#starts[frame] = row * unitSize;
    }
    return isApart;
  }

  #stack({ units, words }: Target, i: number, isApart: boolean): void {
    const { frames } = this.#shape, { unitSize } = this.#rows;
    const to = i * frames * unitSize;
    const source = isApart ? this.#apartWords : this.#rows.words;
    if (this.#isFourBytes && source !== undefined && words !== undefined) {
      const place = { to: to / 4, words: unitSize / 4 };
      stackFourBytes(source, this.#starts, words, place);
      return;
    }
    const from = isApart ? this.#apartUnits : this.#rows.units;
    stackFrames(from, this.#starts, units, { to, shape: this.#shape });
  }

  /** Collects the frames of one stack, wherever they are. */
  #setApart(
    stacks: Int32Array,
    first: number,
    { aside, at }: { aside: Aside | undefined; at: number },
  ): void {
    const { unitSize } = this.#rows;
    for (let frame = 0; frame < this.#shape.frames; frame++) {
      const row = stacks[first + frame], to = frame * unitSize;
      this.#starts[frame] = to;
      if (row === ZEROS) this.#apartUnits.fill(0, to, to + unitSize);
      else if (row >= 0) this.#readRow(row, frame);
      else {
        const from = (SIDE - row) * unitSize;
        const units = sideUnits(aside!, at);
        this.#apartUnits.set(units.subarray(from, from + unitSize), to);
      }
    }
  }

  #readRow(row: number, frame: number): void {
    const { units, data, column, unitSize, leaf } = this.#rows;
    if (data === undefined) column.read(row, this.#apart, frame * leaf.size);
    else {
      const from = row * unitSize;
      this.#apartUnits.set(
        units.subarray(from, from + unitSize),
        frame * unitSize,
      );
    }
  }
}

/** The memory at the side that belongs to a row of a batch. */
export function sideUnits({ episodes, side, last }: Aside, at: number): Units {
  return episodes.sides[episodes.ringIndex(last[at])].units(side);
}
