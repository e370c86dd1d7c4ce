import {
  checkOptions,
  NUMBER,
  OBJECT,
  type OptionKinds,
  TEXT,
} from "@bellman/files/options";
import {
  type ArrayField,
  checkCount,
  checkNames,
  checkWhole,
  type Field,
  findLeaf,
  type Group,
  type Leaf,
  makeSchema,
  nestNode,
  type Schema,
} from "../fields.ts";
import type {
  EpisodeOptions,
  NStepOptions,
  ReplayBufferOptions,
} from "./options.ts";
import { Ring } from "./rows.ts";

/** Origin of a drawn array. */
export type Source =
  /** The drawn row itself. */
  | "row"
  /** The last row of the drawn row's return. */
  | "last"
  /** The row after that. */
  | "next"
  /** The rows of the return after its first. */
  | "between"
  /** The discount of each of those. */
  | "betweenDiscount"
  /** The return itself. */
  | "return"
  /** The discount of the value after it. */
  | "discount";

/** An array of a batch. */
export interface DrawnLeaf {
  readonly leaf: Leaf;
  readonly source: Source;
  /** The stored leaf that it is made of; -1 for none. */
  readonly stored: number;
  /** Frames of a stack; 1 where it is not one, even of one frame. */
  readonly frames: number;
  /** Index among the final leaves; -1 for none. */
  readonly final: number;
}

/** Rows that end an episode, and what is drawn along episodes. */
interface EpisodeSchema {
  /** Stored leaves. */
  readonly terminated: number;
  readonly truncated: number;
  readonly nStep?: {
    readonly steps: number;
    readonly gamma: number;
    /** The stored leaf that is summed. */
    readonly reward: number;
    /** True where its later steps are drawn too. */
    readonly hasBetween: boolean;
  };
}

/** Fields as they are stored, added and drawn. */
export interface ReplaySchema {
  readonly stored: Schema;
  readonly added: Schema;
  readonly drawn: Schema;
  readonly drawnLeaves: readonly DrawnLeaf[];
  /** The added leaf that each stored one comes from. */
  readonly origins: readonly number[];
  /** Added leaves that no row holds: final values only. */
  readonly finalLeaves: readonly Leaf[];
  /** The same by themselves, in the same order. */
  readonly after?: Schema;
  readonly episodes?: EpisodeSchema;
  /** Frames of the longest stack. */
  readonly maxFrames: number;
}

type Fields = Readonly<Record<string, Field>>;

/** Names, each with the name of the field that its values come from. */
type Sources = Readonly<Record<string, string>>;

/** Frames of stacks by path. */
type Stack = ReadonlyMap<string, number>;

/** Names that a batch has of its own. */
const RESERVED = ["slots", "weights"];

const SCALAR: ArrayField = { shape: [], dtype: "float32" };

const REPLAY: OptionKinds<ReplayBufferOptions> = {
  capacity: NUMBER,
  fields: OBJECT,
  numEnvs: NUMBER,
  episodes: OBJECT,
  sampler: OBJECT,
  storage: OBJECT,
};

const EPISODES: OptionKinds<EpisodeOptions> = {
  terminated: TEXT,
  truncated: TEXT,
  next: OBJECT,
  stack: OBJECT,
  nStep: OBJECT,
};

const N_STEP: OptionKinds<NStepOptions> = {
  steps: NUMBER,
  gamma: NUMBER,
  reward: TEXT,
  discount: TEXT,
  between: OBJECT,
  betweenDiscount: TEXT,
};

/** Throws for unknown options of a replay buffer, and for those of another type. */
export function checkReplayOptions(options: ReplayBufferOptions): void {
  const { episodes } = checkOptions("a replay buffer", options, REPLAY);
  if (episodes === undefined) return;
  const { nStep } = checkOptions("episodes", episodes, EPISODES);
  if (nStep !== undefined) checkOptions("nStep", nStep, N_STEP);
}

/** Throws unless fields and episodes fit each other. */
export function makeReplaySchema(
  { fields, episodes }: Pick<ReplayBufferOptions, "fields" | "episodes">,
): ReplaySchema {
  const { next = {} } = episodes ?? {};
  const stored = makeSchema(fields);
  checkNames(Object.values(next), stored, "follow");
  const after = stackFields(stored.root, next, new Map());
  const added = makeSchema(join(fields, after));
  const ends = episodes && episodeSchema(stored, episodes);
  const stack = stackOf(episodes?.stack ?? {}, stored);
  const {
    discount = "discount",
    between = {},
    betweenDiscount = "betweenDiscount",
  }: Partial<NStepOptions> = episodes?.nStep ?? {};
  const later = ends?.nStep?.hasBetween ? ends.nStep.steps - 1 : undefined;
  if (later !== undefined) checkBetween(between, stored, later);
  const drawn = makeSchema(
    join(
      stackFields(stored.root, { ...ownNames(fields), ...next }, stack),
      ends?.nStep ? { [discount]: SCALAR } : {},
      later === undefined ? {} : {
        ...stackFields(stored.root, between, stack, later),
        [betweenDiscount]: { ...SCALAR, shape: [later] },
      },
    ),
  );
  const byName = new Map(stored.leaves.map((leaf) => [leaf.name, leaf]));
  const finalLeaves = added.leaves.filter(({ name }) => !byName.has(name));
  const drawnLeaves = drawn.leaves.map((leaf): DrawnLeaf => {
    const [top, ...rest] = leaf.path;
    const from = (source: Source, origin: Leaf, final = -1): DrawnLeaf => {
      const frames = stack.get(origin.name) ?? 1;
      return { leaf, source, stored: origin.index, frames, final };
    };
    const originIn = (sources: Sources) =>
      byName.get([sources[top], ...rest].join("."))!;
    const own = byName.get(leaf.name);
    if (own !== undefined) return from(sourceOf(own.index, ends), own);
    const final = finalLeaves.findIndex(({ name }) => name === leaf.name);
    if (final >= 0) return from("next", originIn(next), final);
    if (Object.hasOwn(between, top)) return from("between", originIn(between));
    const source = top === discount ? "discount" : "betweenDiscount";
    return { leaf, source, stored: -1, frames: 1, final };
  });
  return {
    stored,
    added,
    drawn,
    drawnLeaves,
    origins: stored.leaves.map(({ name }) =>
      added.leaves.findIndex((leaf) => leaf.name === name)
    ),
    finalLeaves,
    after: finalLeaves.length > 0 ? makeSchema(after) : undefined,
    episodes: ends,
    maxFrames: Math.max(1, ...stack.values()),
  };
}

function ownNames(fields: Fields): Sources {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, name]));
}

function join(...groups: Fields[]): Fields {
  const all: Record<string, Field> = {};
  for (const [name, field] of groups.flatMap((it) => Object.entries(it))) {
    if (RESERVED.includes(name) || Object.hasOwn(all, name)) {
      throw new RangeError(
        `Cannot name a field '${name}': expected a name that is not taken`,
      );
    }
    all[name] = field;
  }
  return all;
}

function sourceOf(stored: number, ends: EpisodeSchema | undefined): Source {
  if (ends?.nStep === undefined) return "row";
  if (stored === ends.nStep.reward) return "return";
  const isFlag = stored === ends.terminated || stored === ends.truncated;
  return isFlag ? "last" : "row";
}

function stackOf(
  stack: Readonly<Record<string, number>>,
  stored: Schema,
): Stack {
  for (const [path, frames] of Object.entries(stack)) {
    findLeaf(path, stored, "stack");
    checkWhole(frames, `stack ${frames} frames of '${path}'`);
  }
  return new Map(Object.entries(stack));
}

/** Makes fields by other names, with the shapes of their stacks, each several `times`. */
function stackFields(
  { keys, children }: Group,
  sources: Sources,
  stack: Stack,
  times?: number,
): Fields {
  const stacked = ({ name, shape, dtype }: Leaf): ArrayField => {
    const frames = stack.get(name);
    const one = frames === undefined
      ? shape
      : [...shape.slice(0, -1), (shape.at(-1) ?? 1) * frames];
    return { shape: times === undefined ? one : [times, ...one], dtype };
  };
  return Object.fromEntries(
    Object.entries(sources).map(([name, source]) => [
      name,
      nestNode(children[keys.indexOf(source)], stacked),
    ]),
  );
}

function checkBetween(between: Sources, stored: Schema, later: number): void {
  checkNames(Object.values(between), stored, "draw between");
  if (later > 0) return;
  throw new RangeError(
    `Cannot draw what is between the steps of a return of ${
      later + 1
    }: expected 2 steps or more`,
  );
}

function episodeSchema(
  stored: Schema,
  { terminated, truncated, nStep }: EpisodeOptions,
): EpisodeSchema {
  return {
    terminated: findFlag(terminated ?? "terminated", stored),
    truncated: findFlag(truncated ?? "truncated", stored),
    nStep: nStep && nStepSchema(stored, nStep),
  };
}

function nStepSchema(
  stored: Schema,
  { steps, gamma, reward = "reward", between = {} }: NStepOptions,
): EpisodeSchema["nStep"] {
  checkWhole(steps, `sum ${steps} steps`);
  if (!(gamma >= 0 && gamma <= 1)) {
    throw new RangeError(
      `Cannot discount by ${gamma}: expected a number from 0 to 1`,
    );
  }
  const { index, size } = findLeaf(reward, stored, "sum");
  if (size !== 1) {
    throw new TypeError(
      `Cannot sum '${reward}' of ${size} numbers: expected a single number`,
    );
  }
  const hasBetween = Object.keys(between).length > 0;
  return { steps, gamma, reward: index, hasBetween };
}

function findFlag(path: string, stored: Schema): number {
  const { index, size, dtype } = findLeaf(path, stored, "end episodes by");
  if (size === 1 && dtype === "uint8") return index;
  throw new TypeError(
    `Cannot end episodes by '${path}' of ${size} ${dtype} numbers: expected a single uint8`,
  );
}

/** Makes the slots of a buffer's rows; throws unless its sizes fit each other. */
export function makeRing(
  { capacity, numEnvs = 1 }: Pick<ReplayBufferOptions, "capacity" | "numEnvs">,
  { episodes, maxFrames }: ReplaySchema,
): Ring {
  checkCount("capacity", capacity);
  checkCount("numEnvs", numEnvs);
  // Rows that are independent are steps of their own.
  const width = episodes === undefined ? 1 : numEnvs;
  checkMultiple(capacity, width);
  const steps = capacity / width;
  if (steps < maxFrames) {
    throw new RangeError(
      `Cannot stack ${maxFrames} frames in a buffer of ${steps} steps: expected a capacity of ${
        maxFrames * width
      } or more`,
    );
  }
  return new Ring({ numEnvs: width, steps, margin: maxFrames - 1 });
}

function checkMultiple(capacity: number, width: number): void {
  if (capacity > 2 ** 31 - 1) {
    throw new RangeError(
      `Cannot make a buffer of ${capacity} rows: expected fewer than 2^31`,
    );
  }
  if (capacity % width === 0) return;
  const wanted = Math.ceil(capacity / width) * width;
  throw new RangeError(
    `Cannot share ${capacity} rows among ${width} environments: expected a multiple such as ${wanted}`,
  );
}
