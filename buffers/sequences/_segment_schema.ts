import {
  checkOptions,
  NUMBER,
  OBJECT,
  oneOf,
  type OptionKinds,
  TEXTS,
} from "@bellman/files/options";
import {
  checkWhole,
  type Field,
  type Fields,
  type Group,
  type Leaf,
  makeSchema,
  type Schema,
  unknownField,
} from "../fields.ts";
import type { Sampler } from "../samplers/sampler.ts";
import type { Storage } from "../storage/storage.ts";

/**
 * Options of a {@linkcode SequenceReplayBuffer}.
 *
 * @typeParam F Fields of a step.
 * @typeParam S Fields that are recorded once for each segment.
 */
export interface SequenceReplayBufferOptions<
  F extends Fields = Fields,
  S extends Fields = Record<never, Field>,
> {
  /** Capacity in steps of each environment, in whole segments. */
  readonly capacity: number;
  /** Number of steps of a segment. */
  readonly numSteps: number;
  /**
   * Number of environments whose segments are added together.
   *
   * @default 1
   */
  readonly numEnvs?: number;
  /** Fields of each step, by name. */
  readonly fields: F;
  /**
   * Additional steps of fields beyond `numSteps`, by name: 1 for observations with the
   * one after the last step.
   *
   * @default {}
   */
  readonly extraSteps?: Readonly<Record<string, number>>;
  /**
   * Fields that are recorded once for each segment, such as the recurrent state before
   * the first step.
   *
   * @default {}
   */
  readonly states?: S;
  /**
   * Frame stacks: paths of array fields, with the number of frames. They are added as
   * single frames, `stack - 1` more than steps: those before the first step come first.
   * Sampled are stacks along the last axis, oldest frame first, with zeros for frames
   * of earlier episodes, as in {@linkcode decodeFrameStacks}.
   *
   * @default {}
   */
  readonly stack?: Readonly<Record<string, number>>;
  /**
   * Frames before the first one of an episode: zeros, or copies of the first, as in
   * `FrameStack` of `@bellman/envs`.
   *
   * @default "zero"
   */
  readonly padding?: "zero" | "reset";
  /**
   * Flags, a single number for each step, that are above 0 where an episode ended. Only
   * frame stacks need them.
   *
   * @default ["terminated", "truncated"]
   */
  readonly ends?: readonly string[];
  /**
   * Sampler of segments over all environments, such as a prioritized one. Batches then
   * have `weights`, one for each segment.
   *
   * @default uniform, for each environment separately
   */
  readonly sampler?: Sampler;
  /**
   * Storage of the segments: memory, or a file that may be larger than memory, such as
   * `FileStorage` of `@bellman/buffers/storage`, used by no other buffer.
   *
   * @default its own memory
   */
  readonly storage?: Storage;
}

const OPTIONS: OptionKinds<SequenceReplayBufferOptions> = {
  capacity: NUMBER,
  numSteps: NUMBER,
  numEnvs: NUMBER,
  fields: OBJECT,
  extraSteps: OBJECT,
  states: OBJECT,
  stack: OBJECT,
  padding: oneOf("zero", "reset"),
  ends: TEXTS,
  sampler: OBJECT,
  storage: OBJECT,
};

/** One array field of a segment. */
export interface SegmentLeaf {
  readonly leaf: Leaf;
  /** Steps that are drawn; 0 where it is recorded once. */
  readonly steps: number;
  /** Frames of a stack; 0 where there are no stacks. */
  readonly stack: number;
}

/** Fields of segments, as they are kept and as they are drawn. */
export interface SegmentSchema {
  readonly kept: Schema;
  readonly drawn: Schema;
  readonly leaves: readonly SegmentLeaf[];
  /** Arrays by index that say where episodes ended; none without stacks. */
  readonly ends: readonly number[];
}

/** Throws where names or sizes do not go together. */
export function segmentSchema(
  options: SequenceReplayBufferOptions,
): SegmentSchema {
  checkOptions("a replay buffer of sequences", options, OPTIONS);
  const { fields, states = {}, stack = {} } = options;
  const twice = Object.keys(states).find((name) => Object.hasOwn(fields, name));
  if (twice !== undefined) {
    throw new TypeError(
      `Cannot record '${twice}' in each step and once: expected another name`,
    );
  }
  const all = { ...fields, ...states };
  const reserved = ["segments", "slots", "weights"]
    .find((name) => Object.hasOwn(all, name));
  if (reserved !== undefined) {
    throw new TypeError(
      `Cannot record a field as '${reserved}', which batches have: expected another name`,
    );
  }
  const schema = makeSchema(all);
  checkNames(schema, options);
  const leaves = schema.leaves.map((leaf): SegmentLeaf => {
    const name = leaf.path[0];
    if (Object.hasOwn(states, name)) return { leaf, steps: 0, stack: 0 };
    const steps = options.numSteps + extraSteps(options, name);
    if (!Object.hasOwn(stack, leaf.name)) return { leaf, steps, stack: 0 };
    checkWhole(stack[leaf.name], `stack ${stack[leaf.name]} frames`);
    return { leaf, steps, stack: stack[leaf.name] };
  });
  return {
    kept: withSizes(schema, leaves.map(keptSize)),
    drawn: withSizes(schema, leaves.map(drawnSize)),
    leaves,
    ends: leaves.some(({ stack }) => stack > 0)
      ? findEnds(leaves, options)
      : [],
  };
}

function checkNames(
  { root, leaves }: Schema,
  { extraSteps = {}, states = {}, stack = {} }: SequenceReplayBufferOptions,
): void {
  const perStep = (name: string) => !Object.hasOwn(states, name);
  const names = root.keys.filter(perStep);
  const paths = leaves.filter((leaf) => perStep(leaf.path[0]))
    .map(({ name }) => name);
  for (const name of Object.keys(extraSteps)) {
    if (names.includes(name)) continue;
    throw unknownField("lengthen", { ...root, keys: names }, name);
  }
  for (const path of Object.keys(stack)) {
    if (paths.includes(path)) continue;
    throw unknownField("stack", { ...root, keys: paths }, path);
  }
}

function extraSteps(
  { extraSteps = {} }: SequenceReplayBufferOptions,
  name: string,
): number {
  const extra = Object.hasOwn(extraSteps, name) ? extraSteps[name] : 0;
  if (Number.isSafeInteger(extra) && extra >= 0) return extra;
  throw new RangeError(
    `Cannot record ${extra} extra steps of '${name}': expected a whole number of at least 0`,
  );
}

function keptSize({ leaf, steps, stack }: SegmentLeaf): number {
  if (steps === 0) return leaf.size;
  return leaf.size * (stack === 0 ? steps : steps + stack - 1);
}

function drawnSize({ leaf, steps, stack }: SegmentLeaf): number {
  return leaf.size * Math.max(1, steps) * Math.max(1, stack);
}

function withSizes({ root, leaves }: Schema, sizes: number[]): Schema {
  const resized = leaves.map((leaf, i) => ({ ...leaf, size: sizes[i] }));
  return { root: withLeaves(root, resized), leaves: resized };
}

function withLeaves(group: Group, leaves: readonly Leaf[]): Group {
  const children = group.children.map((child) =>
    "dtype" in child ? leaves[child.index] : withLeaves(child, leaves)
  );
  return { ...group, children };
}

/** Throws unless episodes' ends are known between all frames of a stack. */
function findEnds(
  leaves: readonly SegmentLeaf[],
  { ends = ["terminated", "truncated"] }: SequenceReplayBufferOptions,
): number[] {
  const steps = leaves.map(({ stack, steps }) => stack > 0 ? steps - 1 : 0)
    .reduce((most, steps) => Math.max(most, steps));
  return ends.map((name) => {
    const found = leaves.find(({ leaf }) => leaf.name === name);
    if (
      found && found.steps >= steps && found.leaf.size === 1 &&
      found.stack === 0
    ) return found.leaf.index;
    throw new TypeError(
      `Cannot stack frames without a number for each of ${steps} steps as '${name}': expected such a field, or other names as 'ends'`,
    );
  });
}
