import type {
  Batch,
  BoxArray,
  BoxSpace,
  Env,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { allocateArray, boundAt, elementCount } from "../spaces/arrays.ts";
import { box } from "../spaces/constructors.ts";
import {
  ended,
  EnvWrapper,
  relay,
  type RelayedStep,
  VecEnvWrapper,
} from "./env_wrapper.ts";

/** Settings of the frame stacks. */
export interface FrameStackOptions {
  /**
   * Observations in a stack.
   *
   * @default 4
   */
  size?: number;
  /**
   * What stands before an episode's first observation: that observation itself
   * or zeros.
   *
   * @default "reset"
   */
  padding?: "reset" | "zero";
  /**
   * Along which axis observations are stacked: the last one becomes `size` times
   * as long, or a new one of that length comes first. Along a new first axis the
   * stacks of a single environment share their frames: each is kept once.
   *
   * @default "last"
   */
  axis?: "first" | "last";
}

/** Each element's bound, repeated for every frame along the last axis. */
function repeatBound(
  bound: number | readonly number[],
  { size, channels }: { size: number; channels: number },
): number | number[] {
  if (typeof bound === "number") return bound;
  const all: number[] = [];
  for (let at = 0; at < bound.length; at += channels) {
    for (let frame = 0; frame < size; frame++) {
      for (let c = 0; c < channels; c++) all.push(boundAt(bound, at + c));
    }
  }
  return all;
}

/** Throws unless an option is one of the words that it may be. */
function checkChoice(
  name: string,
  value: string,
  choices: readonly string[],
): void {
  if (choices.includes(value)) return;
  throw new RangeError(
    `Cannot stack observations with ${name} '${value}': expected ${
      choices.map((it) => `'${it}'`).join(" or ")
    }`,
  );
}

/** Stacks that were saved, if they are as long as those that are to go on. */
function checkStacks(saved: StateTree, own: BoxArray): BoxArray {
  const stacks = saved as BoxArray;
  if (ArrayBuffer.isView(saved) && saved.length === own.length) return stacks;
  throw new RangeError(
    `Cannot restore stacks of ${own.length} numbers from a snapshot of ${
      stacks?.length ?? "none"
    }`,
  );
}

/** How stacks of a space's values lie in memory. */
interface StackLayout {
  readonly space: BoxSpace;
  /** Observations in a stack. */
  readonly size: number;
  /** Numbers of an observation. */
  readonly frame: number;
  /** Numbers of an observation that stay together in a stack. */
  readonly run: number;
  readonly isZeroPadded: boolean;
  /** Observations in a stack, where stacks along the last axis share them. */
  readonly sharedFrames: number | undefined;
}

/** The layout of stacks, with settings that are checked. */
function stackLayout(
  space: Space,
  { size = 4, padding = "reset", axis = "last" }: FrameStackOptions,
): StackLayout {
  if (space.type !== "box") {
    throw new TypeError(
      `Cannot stack observations of a ${space.type} space: flatten them first`,
    );
  }
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(
      `Cannot stack ${size} observations: expected a whole number of at least 1`,
    );
  }
  checkChoice("padding", padding, ["reset", "zero"]);
  checkChoice("axis", axis, ["first", "last"]);
  const isZeroPadded = padding === "zero";
  const frame = elementCount(space);
  const shape = space.shape.length === 0 ? [1] : space.shape;
  const channels = shape.at(-1)!;
  const run = axis === "first" ? frame : channels;
  // Zeros before an episode's first observation are values, too.
  const widen = (end: "low" | "high"): number | number[] => {
    const bound = repeatBound(space[end], { size, channels: run });
    const reach = end === "low" ? Math.min : Math.max;
    if (!isZeroPadded || size === 1) return bound;
    return typeof bound === "number"
      ? reach(bound, 0)
      : bound.map((it) => reach(it, 0));
  };
  const stacked = box({
    low: widen("low"),
    high: widen("high"),
    shape: axis === "first"
      ? [size, ...space.shape]
      : [...shape.slice(0, -1), channels * size],
    dtype: space.dtype,
  });
  return {
    space: stacked,
    size,
    frame,
    run,
    isZeroPadded,
    sharedFrames: axis === "last" && !isZeroPadded ? size : undefined,
  };
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** The words of an array, where each of them is a stack of four bytes. */
function wordsOf(
  { size, run }: StackLayout,
  stacks: BoxArray,
): Int32Array | undefined {
  const isWord = size === 4 && run === 1 && stacks instanceof Uint8Array;
  return isWord && IS_LITTLE_ENDIAN ? new Int32Array(stacks.buffer) : undefined;
}

/** Keeps the last observations of each copy in stacks. */
export class FrameStacker {
  readonly space: BoxSpace;
  /** The present stacks of all copies. */
  readonly stacks: BoxArray;
  /** The last stacks of the episodes that ended. */
  readonly finalStacks: BoxArray;
  #layout: StackLayout;
  #words: Int32Array | undefined;
  #finalWords: Int32Array | undefined;

  constructor(space: Space, numEnvs: number, options: FrameStackOptions = {}) {
    const layout = stackLayout(space, options);
    const { frame, size } = layout;
    this.#layout = layout;
    this.space = layout.space;
    this.stacks = allocateArray(this.space, numEnvs * frame * size);
    this.finalStacks = allocateArray(this.space, numEnvs * frame * size);
    this.#words = wordsOf(layout, this.stacks);
    this.#finalWords = wordsOf(layout, this.finalStacks);
  }

  /** Frames of a stack, where stacks can share them. */
  get sharedFrames(): number | undefined {
    return this.#layout.sharedFrames;
  }

  /** Goes on from saved stacks of all copies. */
  load(saved: StateTree): void {
    this.stacks.set(checkStacks(saved, this.stacks));
  }

  /** Starts a copy's stack with an episode's first observation, at `from`. */
  start(row: number, batch: BoxArray, from = row * this.#layout.frame): void {
    const { frame, size, isZeroPadded } = this.#layout;
    const length = frame * size;
    if (isZeroPadded) this.stacks.fill(0, row * length, (row + 1) * length);
    const times = isZeroPadded ? 1 : size;
    for (let i = 0; i < times; i++) this.push(row, batch, from);
  }

  /** Adds the observation that stands at `from` to a copy's stack. */
  push(row: number, batch: BoxArray, from = row * this.#layout.frame): void {
    if (this.#words === undefined) {
      this.#shift({ row, target: this.stacks }, batch, from);
    } else {
      this.#shiftWords({ row, target: this.#words }, batch, from);
    }
  }

  /** Makes a copy's last stack, with an episode's last observation. */
  end(row: number, batch: BoxArray, from = row * this.#layout.frame): void {
    if (this.#finalWords === undefined) {
      this.#shift({ row, target: this.finalStacks }, batch, from);
    } else {
      this.#shiftWords({ row, target: this.#finalWords }, batch, from);
    }
  }

  #shift({ row, target }: Place<BoxArray>, batch: BoxArray, at: number): void {
    const { run, frame, size } = this.#layout, wide = run * size;
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

  /** Four pixels are a word: the oldest, in the lowest byte, is shifted out. */
  #shiftWords(
    { row, target }: Place<Int32Array>,
    batch: BoxArray,
    at: number,
  ): void {
    const words = this.#words!, { frame } = this.#layout;
    const to = row * frame;
    for (let i = 0; i < frame; i++) {
      target[to + i] = (words[to + i] >>> 8) | (batch[at + i] << 24);
    }
  }
}

/** Which copy's stack is written, and into which array. */
interface Place<T> {
  row: number;
  target: T;
}

/** Observations of a chunk, besides those of its first stack. */
const CHUNK_FRAMES = 32;

/**
 * Stacks along a first axis that are windows on one growing row of frames: each
 * frame is kept once, however many stacks show it. What was written is never
 * changed, so that a stack stays what it was for as long as it is held. Frames
 * lie in chunks, so that those that nobody holds are given back.
 */
class SlidingStack {
  readonly space: BoxSpace;
  #size: number;
  #frame: number;
  #isZeroPadded: boolean;
  #chunk: BoxArray;
  #end = 0;

  constructor(space: Space, options: FrameStackOptions = {}) {
    const layout = stackLayout(space, options);
    this.space = layout.space;
    this.#size = layout.size;
    this.#frame = layout.frame;
    this.#isZeroPadded = layout.isZeroPadded;
    this.#chunk = this.#allocate();
  }

  #allocate(): BoxArray {
    this.#end = this.#size * this.#frame;
    return allocateArray(this.space, this.#end + CHUNK_FRAMES * this.#frame);
  }

  /** The present stack; the array lasts. */
  get stack(): BoxArray {
    return this.#chunk.subarray(
      this.#end - this.#size * this.#frame,
      this.#end,
    ) as BoxArray;
  }

  /** Goes on from a stack, which is copied. */
  load(saved: StateTree): void {
    const stack = checkStacks(saved, this.stack);
    this.#chunk = this.#allocate();
    this.#chunk.set(stack);
  }

  /** Starts a stack with an episode's first observation. */
  start(observation: BoxArray): BoxArray {
    this.#chunk = this.#allocate();
    const first = this.#isZeroPadded ? this.#size - 1 : 0;
    for (let i = first; i < this.#size; i++) {
      this.#chunk.set(observation, i * this.#frame);
    }
    return this.stack;
  }

  /** The stack with one more observation. */
  push(observation: BoxArray): BoxArray {
    if (this.#end === this.#chunk.length) this.load(this.stack);
    this.#chunk.set(observation, this.#end);
    this.#end += this.#frame;
    return this.stack;
  }
}

/** One environment's stacks, copied for the caller. */
class CopiedStack {
  readonly space: Space;
  #stacker: FrameStacker;

  constructor(space: Space, options: FrameStackOptions) {
    this.#stacker = new FrameStacker(space, 1, options);
    this.space = this.#stacker.space;
  }

  get stack(): BoxArray {
    return this.#stacker.stacks.slice() as BoxArray;
  }

  load(saved: StateTree): void {
    this.#stacker.load(saved);
  }

  start(observation: BoxArray): BoxArray {
    this.#stacker.start(0, observation);
    return this.stack;
  }

  push(observation: BoxArray): BoxArray {
    this.#stacker.push(0, observation);
    return this.stack;
  }
}

/**
 * Shows the last observations at once, the oldest first, stacked along the last
 * axis or along a new first one.
 *
 * Stacks along a new first axis share their frames: each frame is kept once, and
 * a stack is a view of its row. It stays as it is however long it is held,
 * but it must not be written into.
 *
 * @example
 * ```ts
 * import { FrameStack, make } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new FrameStack(make("CartPole-v1"), { size: 2 });
 * const first = env.reset({ seed: 0 }) as Float32Array;
 * assertEquals(first.slice(0, 4), first.slice(4));
 * const { observation } = env.step(1);
 * assertEquals((observation as Float32Array).slice(0, 4), first.slice(4));
 * ```
 */
export class FrameStack extends EnvWrapper {
  #stack: CopiedStack | SlidingStack;
  #sharedFrames: number | undefined;

  /**
   * Wraps an environment.
   *
   * @param env The environment inside; its observations are boxes.
   * @param options Size and axis of the stack and what comes before an episode.
   * @throws {TypeError} If the observations are not boxes.
   */
  constructor(env: Env, options: FrameStackOptions = {}) {
    super(env);
    const Stack = options.axis === "first" ? SlidingStack : CopiedStack;
    this.#stack = new Stack(env.observationSpace, options);
    this.#sharedFrames =
      stackLayout(env.observationSpace, options).sharedFrames;
  }

  /** What stacks can be. */
  override get observationSpace(): Space {
    return this.#stack.space;
  }

  /** Frames of a stack; none of stacks along a first axis or padded by zeros. */
  override get stackedFrames(): number | undefined {
    return this.#sharedFrames;
  }

  /**
   * Starts an episode.
   *
   * @param options A seed starts the random stream anew.
   * @returns The first stack.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    return this.#stack.start(super.reset(options) as BoxArray);
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, with the stack.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    const observation = this.#stack.push(result.observation as BoxArray);
    return { ...result, observation };
  }

  /**
   * The present stack.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return this.#stack.stack.slice();
  }

  /**
   * Goes on from a stack.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#stack.load(state);
  }
}

/**
 * Shows each copy's last observations at once, stacked along the last axis, or
 * along a new first one, with the oldest first. A stack never reaches over the end
 * of an episode.
 *
 * @example
 * ```ts
 * import { makeVec, VecFrameStack } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecFrameStack(makeVec("CartPole-v1", { numEnvs: 3 }), {
 *   size: 4,
 * });
 * assertEquals((env.reset({ seed: 0 }) as Float32Array).length, 3 * 16);
 * ```
 */
export class VecFrameStack extends VecEnvWrapper {
  #stacker: FrameStacker;
  #out = {} as RelayedStep;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside; its observations are boxes.
   * @param options Size of the stacks and what comes before an episode.
   * @throws {TypeError} If the observations are not boxes.
   */
  constructor(env: VecEnv, options: FrameStackOptions = {}) {
    super(env);
    const { observationSpace, numEnvs } = env;
    this.#stacker = new FrameStacker(observationSpace, numEnvs, options);
  }

  /** What stacks can be. */
  override get observationSpace(): Space {
    return this.#stacker.space;
  }

  /** Frames of a stack; none of stacks along a first axis or padded by zeros. */
  override get stackedFrames(): number | undefined {
    return this.#stacker.sharedFrames;
  }

  /**
   * Starts an episode in every copy.
   *
   * @param options A seed, or one for each copy, starts the random streams anew.
   * @returns The first stacks.
   */
  override reset(options?: VecResetOptions): Batch {
    const observations = super.reset(options) as BoxArray;
    for (let row = 0; row < this.numEnvs; row++) {
      this.#stacker.start(row, observations);
    }
    return this.#stacker.stacks;
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy.
   * @returns What came of it, with the stacks.
   */
  override step(actions: Batch): VecStep {
    const step = relay(super.step(actions), this.#out);
    const observations = step.observations as BoxArray;
    const last = step.finalObservations as BoxArray;
    for (let row = 0; row < this.numEnvs; row++) {
      if (ended(step, row)) {
        this.#stacker.end(row, last);
        this.#stacker.start(row, observations);
      } else {
        this.#stacker.push(row, observations);
      }
    }
    step.observations = this.#stacker.stacks;
    step.finalObservations = this.#stacker.finalStacks;
    return step;
  }

  /**
   * The stacks that were returned last.
   *
   * @returns The batch.
   */
  override observations(): Batch {
    return this.#stacker.stacks;
  }

  /**
   * The present stacks.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return this.#stacker.stacks.slice();
  }

  /**
   * Goes on from stacks.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#stacker.load(state);
  }
}
