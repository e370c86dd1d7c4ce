import type {
  Batch,
  BoxArray,
  Env,
  ObservationScaling,
  ObservationsOf,
  Space,
  StateTree,
  VecEnv,
} from "@bellman/types";
import {
  checkOptions,
  oneOf,
  type OptionKinds,
  whole,
} from "@bellman/files/options";
import { ended, type MutableStep } from "../_steps.ts";
import { allocateArray, elementCount } from "../spaces/arrays.ts";
import { box } from "../spaces/constructors.ts";
import { channelAxis } from "./channels_last.ts";
import { isVector, Wrapper } from "./wrapper.ts";

/** Settings of the frame stacks. */
export interface FrameStackOptions {
  /**
   * Observations in a stack.
   *
   * @default 4
   */
  size?: number;
  /**
   * Content of a stack before an episode's first observation: that observation
   * itself or zeros.
   *
   * @default "reset"
   */
  padding?: "reset" | "zero";
  /**
   * Axis along which observations are stacked: the last one becomes `size` times
   * as long, or a new one of that length comes first. Instead of the last one it is
   * that of the channels, where {@linkcode channelAxis} says so: the first, or a new
   * last one of gray images. Along a new first axis the stacks of a single environment
   * share their frames: each is kept once.
   *
   * @default "last"
   */
  axis?: "first" | "last";
}

const OPTIONS: OptionKinds<FrameStackOptions> = {
  size: whole(1),
  padding: oneOf("reset", "zero"),
  axis: oneOf("first", "last"),
};

/** Repeats the bounds of each run of `run` elements for every frame. */
function repeatBound(
  bound: number | readonly number[],
  { size, run }: { size: number; run: number },
): number | number[] {
  if (typeof bound === "number") return bound;
  const all: number[] = [];
  for (let at = 0; at < bound.length; at += run) {
    const part = bound.slice(at, at + run);
    for (let frame = 0; frame < size; frame++) all.push(...part);
  }
  return all;
}

/** Checks the settings and lays out stacks in memory. */
function stackLayout(space: Space, options: FrameStackOptions) {
  if (space.type !== "box") {
    throw new TypeError(
      `Cannot stack observations of a ${space.type} space: flatten them first`,
    );
  }
  const { size = 4, padding = "reset", axis = "last" } = checkOptions(
    "a stack of observations",
    options,
    OPTIONS,
  );
  const isZeroPadded = padding === "zero";
  const frame = elementCount(space);
  const place = axis === "last" ? channelAxis(space.shape) : undefined;
  const shape = space.shape.length === 0 || place === "none"
    ? [...space.shape, 1]
    : space.shape;
  const channels = shape.at(-1)!;
  const isFirst = axis === "first" || place === "first";
  const run = isFirst ? frame : channels;
  // Zeros before an episode's first observation are values, too.
  const widen = (end: "low" | "high"): number | number[] => {
    const bound = repeatBound(space[end], { size, run });
    const reach = end === "low" ? Math.min : Math.max;
    if (!isZeroPadded || size === 1) return bound;
    return typeof bound === "number"
      ? reach(bound, 0)
      : bound.map((it) => reach(it, 0));
  };
  return {
    /** Space of the stacks. */
    space: box({
      low: widen("low"),
      high: widen("high"),
      shape: place === "first"
        ? [shape[0] * size, ...shape.slice(1)]
        : axis === "first"
        ? [size, ...space.shape]
        : [...shape.slice(0, -1), channels * size],
      dtype: space.dtype,
    }),
    /** Observations in a stack. */
    size,
    /** Numbers of an observation. */
    frame,
    /** Numbers of an observation that stay together in a stack. */
    run,
    isZeroPadded,
    /** Observations in a stack, where stacks along the last axis share them. */
    sharedFrames: isFirst || isZeroPadded ? undefined : size,
  };
}

type StackLayout = ReturnType<typeof stackLayout>;

/** Repeats the scale of frames for each of a stack. */
function scaleOf(
  { observationScaling: scale }: Pick<Env, "observationScaling">,
  layout: StackLayout,
): ObservationScaling | undefined {
  // Zeros before an episode are zeros after scaling.
  if (scale === undefined || layout.isZeroPadded) return undefined;
  const [mean, variance] = [scale.mean, scale.variance]
    .map((it) => repeatBound(Array.from(it), layout) as number[]);
  return { ...scale, mean, variance };
}

/** Checks that saved stacks are as long as those that take their place. */
function checkStacks(saved: StateTree, own: BoxArray): BoxArray {
  const stacks = saved as BoxArray;
  if (ArrayBuffer.isView(saved) && saved.length === own.length) return stacks;
  throw new RangeError(
    `Cannot restore stacks of ${own.length} numbers from a snapshot of ${
      stacks?.length ?? "none"
    }`,
  );
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** Keeps the last observations of each environment in stacks. */
export class FrameStacker {
  /** Form of the stacks in memory. */
  readonly layout: StackLayout;
  /** Present stacks of all environments. */
  readonly stacks: BoxArray;
  /** Last stacks of the episodes that ended. */
  readonly finalStacks: BoxArray;
  /** Stacks as words, where each of them is a stack of four bytes. */
  #words: Int32Array | undefined;
  #finalWords: Int32Array | undefined;

  constructor(space: Space, numEnvs: number, options: FrameStackOptions = {}) {
    this.layout = stackLayout(space, options);
    const { space: stacked, frame, size, run } = this.layout;
    this.stacks = allocateArray(stacked, numEnvs * frame * size);
    this.finalStacks = allocateArray(stacked, numEnvs * frame * size);
    const isWord = size === 4 && run === 1 && stacked.dtype === "uint8";
    if (!isWord || !IS_LITTLE_ENDIAN) return;
    this.#words = new Int32Array(this.stacks.buffer);
    this.#finalWords = new Int32Array(this.finalStacks.buffer);
  }

  /** Restores saved stacks of all environments. */
  load(saved: StateTree): void {
    this.stacks.set(checkStacks(saved, this.stacks));
  }

  /** Starts the stack of a row with an episode's first observation, at `from`. */
  start(row: number, batch: BoxArray, from = row * this.layout.frame): void {
    const { frame, size, isZeroPadded } = this.layout;
    const length = frame * size;
    if (isZeroPadded) this.stacks.fill(0, row * length, (row + 1) * length);
    const times = isZeroPadded ? 1 : size;
    for (let i = 0; i < times; i++) this.push(row, batch, from);
  }

  /** Adds the observation at `from` to the stack of a row. */
  push(row: number, batch: BoxArray, from = row * this.layout.frame): void {
    if (this.#words === undefined) this.#shift(this.stacks, row, batch, from);
    else this.#shiftWords(this.#words, row, batch, from);
  }

  /** Makes the last stack of a row, with an episode's last observation. */
  end(row: number, batch: BoxArray, from = row * this.layout.frame): void {
    const words = this.#finalWords;
    if (words === undefined) this.#shift(this.finalStacks, row, batch, from);
    else this.#shiftWords(words, row, batch, from);
  }

  #shift(target: BoxArray, row: number, batch: BoxArray, at: number): void {
    const { run, frame, size } = this.layout, wide = run * size;
    let to = row * frame * size;
    for (let from = at; from < at + frame; from += run, to += wide) {
      for (let i = 0; i < wide - run; i++) {
        target[to + i] = this.stacks[to + i + run];
      }
      for (let c = 0; c < run; c++) {
        target[to + wide - run + c] = batch[from + c];
      }
    }
  }

  /** Shifts four pixels in a word: the oldest, in the lowest byte, drops out. */
  #shiftWords(
    target: Int32Array,
    row: number,
    batch: BoxArray,
    at: number,
  ): void {
    const words = this.#words!, { frame } = this.layout;
    const to = row * frame;
    for (let i = 0; i < frame; i++) {
      target[to + i] = (words[to + i] >>> 8) | (batch[at + i] << 24);
    }
  }
}

/** Observations of a chunk, besides those of its first stack. */
const CHUNK_FRAMES = 32;

/**
 * Stacks along a first axis that are windows on one growing row of frames: each
 * frame is kept once, however many stacks show it. A written frame never
 * changes, so that a stack stays as it is for as long as it is held. Frames lie
 * in chunks, so that those that nobody holds are freed.
 */
class SlidingStack {
  readonly layout: StackLayout;
  #chunk: BoxArray;
  #end = 0;

  constructor(space: Space, options: FrameStackOptions) {
    this.layout = stackLayout(space, options);
    this.#chunk = this.#allocate();
  }

  #allocate(): BoxArray {
    const { space, size, frame } = this.layout;
    this.#end = size * frame;
    return allocateArray(space, this.#end + CHUNK_FRAMES * frame);
  }

  get stacks(): BoxArray {
    const { size, frame } = this.layout, end = this.#end;
    return this.#chunk.subarray(end - size * frame, end) as BoxArray;
  }

  load(saved: StateTree): void {
    const stack = checkStacks(saved, this.stacks);
    this.#chunk = this.#allocate();
    this.#chunk.set(stack);
  }

  start(_row: number, observation: BoxArray): void {
    const { size, frame, isZeroPadded } = this.layout;
    this.#chunk = this.#allocate();
    for (let i = isZeroPadded ? size - 1 : 0; i < size; i++) {
      this.#chunk.set(observation, i * frame);
    }
  }

  push(_row: number, observation: BoxArray): void {
    if (this.#end === this.#chunk.length) this.load(this.stacks);
    this.#chunk.set(observation, this.#end);
    this.#end += this.layout.frame;
  }
}

/**
 * Shows the last observations of each environment at once, the oldest first, stacked
 * along the last axis or along a new first one. A stack never reaches over the end of
 * an episode.
 *
 * Stacks of a single environment along a new first axis share their frames: each
 * frame is kept once, and a stack is a view of its row. It stays as it is however long
 * it is held, but it must not be written into.
 *
 * @typeParam E Environment inside.
 *
 * @example
 * ```ts
 * import { FrameStack, make } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new FrameStack(make("CartPole-v1"), { size: 2 });
 * const first = env.reset({ seed: 0 });
 * assertEquals(first.slice(0, 4), first.slice(4));
 * const { observation } = env.step(1);
 * assertEquals(observation.slice(0, 4), first.slice(4));
 * ```
 */
export class FrameStack<E extends Env | VecEnv = Env> extends Wrapper<E> {
  #stacker: FrameStacker | SlidingStack;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector; its observations are boxes.
   * @param options Size, axis and padding of the stacks.
   * @throws {TypeError} If the observations are not boxes.
   */
  constructor(env: E, options: FrameStackOptions = {}) {
    super(env);
    const space = env.observationSpace;
    this.#stacker = isVector(env)
      ? new FrameStacker(space, env.numEnvs, options)
      : options?.axis === "first"
      ? new SlidingStack(space, options)
      : new FrameStacker(space, 1, options);
  }

  /** Space of one environment's stacks. */
  override get observationSpace(): Space {
    return this.#stacker.layout.space;
  }

  /** Frames of a stack; none of stacks along a first axis or padded by zeros. */
  override get stackedFrames(): number | undefined {
    return this.#stacker.layout.sharedFrames;
  }

  /** Scale of the frames, for each of a stack. */
  override get observationScaling(): ObservationScaling | undefined {
    return scaleOf(this.env, this.#stacker.layout);
  }

  /** Stacks as they are given away; those of a single environment are the caller's. */
  get #newest(): BoxArray {
    const stacker = this.#stacker, { stacks } = stacker;
    return isVector(this.env) || stacker instanceof SlidingStack
      ? stacks
      : stacks.slice() as BoxArray;
  }

  /**
   * Starts the stacks of all environments.
   *
   * @param observations First observations.
   * @returns The first stacks.
   */
  protected override changeReset(observations: Batch): Batch {
    for (let row = 0; row < (this.numEnvs ?? 1); row++) {
      this.#stacker.start(row, observations as BoxArray);
    }
    return this.#newest;
  }

  /**
   * Adds the observations of a step to the stacks.
   *
   * @param step Step.
   */
  protected override changeStep(step: MutableStep): void {
    const stacker = this.#stacker;
    const newest = step.observations as BoxArray;
    const last = step.finalObservations as BoxArray | undefined;
    for (let row = 0; row < step.rewards.length; row++) {
      if (last !== undefined && ended(step, row)) {
        (stacker as FrameStacker).end(row, last);
        stacker.start(row, newest);
      } else {
        stacker.push(row, newest);
      }
    }
    step.observations = this.#newest;
    if (last === undefined) return;
    step.finalObservations = (stacker as FrameStacker).finalStacks;
  }

  /**
   * Returns the latest stacks of a vector.
   *
   * @returns The batch.
   */
  override observations(): E extends VecEnv ? ObservationsOf<E> : never {
    return this.#stacker.stacks as never;
  }

  /**
   * Saves the current stacks.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return this.#stacker.stacks.slice();
  }

  /**
   * Restores stacks.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#stacker.load(state);
  }
}
