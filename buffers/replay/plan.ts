import {
  type ArrayField,
  checkCount,
  closest,
  type Field,
  type Leaf,
  makeSchema,
  type Schema,
  unknownField,
} from "../fields.ts";
import type {
  EpisodeOptions,
  NStepOptions,
  ReplayBufferOptions,
  SharedReplay,
} from "./options.ts";
import type { RingOptions } from "./ring.ts";

/** What a drawn array is made of. */
export type Source =
  /** The drawn row itself. */
  | "row"
  /** The last row of the drawn row's return. */
  | "last"
  /** What came after that. */
  | "next"
  /** The rows of the return after its first. */
  | "between"
  /** What each of those counts. */
  | "betweenDiscount"
  /** The return itself. */
  | "return"
  /** What the value after it counts. */
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

/** How a return is computed. */
interface Return {
  readonly steps: number;
  readonly gamma: number;
  /** The stored leaf that is summed. */
  readonly reward: number;
  /** Whether its later steps are drawn too. */
  readonly hasBetween: boolean;
}

/** Which rows end an episode, and what is drawn along episodes. */
interface EpisodeSchema {
  /** Stored leaves. */
  readonly terminated: number;
  readonly truncated: number;
  readonly nStep?: Return;
  readonly zeroPadding: boolean;
}

/** What is stored, added and drawn. */
export interface ReplaySchema {
  readonly stored: Schema;
  readonly added: Schema;
  readonly drawn: Schema;
  readonly drawnLeaves: readonly DrawnLeaf[];
  /** The added leaf that each stored one comes from. */
  readonly origins: readonly number[];
  /** Added leaves whose values no row holds: final values only. */
  readonly finalLeaves: readonly Leaf[];
  /** The same by themselves, in the same order. */
  readonly after?: Schema;
  readonly episodes?: EpisodeSchema;
  /** Frames of the longest stack. */
  readonly maxFrames: number;
}

type Fields = Readonly<Record<string, Field>>;

/** Names that a batch has of its own. */
const RESERVED = ["slots", "weights"];

/** Throws unless fields and episodes fit each other. */
export function makeReplaySchema(
  { fields, episodes }: Pick<ReplayBufferOptions, "fields" | "episodes">,
): ReplaySchema {
  const stored = makeSchema(fields);
  const next = Object.entries(episodes?.next ?? {});
  for (const [, source] of next) checkName(source, stored, "follow");
  const after = Object.fromEntries(
    next.map(([name, source]) => [name, fields[source]]),
  );
  const added = makeSchema(join(fields, after));
  const ends = episodes && episodeSchema(stored, episodes);
  const stack = stackOf(episodes?.stack ?? {}, stored);
  const {
    discount = "discount",
    between = {},
    betweenDiscount = "betweenDiscount",
  }: Partial<NStepOptions> = episodes?.nStep ?? {};
  const later = ends?.nStep?.hasBetween
    ? laterFields(fields, between, { stored, stack, steps: ends.nStep.steps })
    : undefined;
  const drawn = makeSchema(
    join(
      mapFields(fields, stack),
      mapFields(after, stack, episodes?.next),
      ends?.nStep ? { [discount]: SCALAR } : {},
      later ? { ...later.fields, [betweenDiscount]: later.discount } : {},
    ),
  );
  const byName = new Map(stored.leaves.map((leaf) => [leaf.name, leaf]));
  const finalLeaves = added.leaves.filter(({ name }) => !byName.has(name));
  const drawnLeaves = drawn.leaves.map((leaf): DrawnLeaf => {
    const own = byName.get(leaf.name);
    if (own !== undefined) {
      return drawnFrom(leaf, own, { source: sourceOf(own.index, ends), stack });
    }
    const final = finalLeaves.findIndex(({ name }) => name === leaf.name);
    const [top, ...rest] = leaf.path;
    if (final < 0 && Object.hasOwn(between, top)) {
      const origin = byName.get([between[top], ...rest].join("."))!;
      return drawnFrom(leaf, origin, { source: "between", stack });
    }
    if (final < 0) {
      const source = top === discount ? "discount" : "betweenDiscount";
      return { leaf, source, stored: -1, frames: 1, final };
    }
    const origin = byName.get([episodes!.next![top], ...rest].join("."))!;
    return { ...drawnFrom(leaf, origin, { source: "next", stack }), final };
  });
  const origins = stored.leaves.map(({ name }) =>
    added.leaves.findIndex((leaf) => leaf.name === name)
  );
  const maxFrames = Math.max(1, ...stack.values());
  return {
    stored,
    added,
    drawn,
    drawnLeaves,
    origins,
    finalLeaves,
    after: next.length > 0 ? makeSchema(after) : undefined,
    episodes: ends,
    maxFrames,
  };
}

const SCALAR: ArrayField = { shape: [], dtype: "float32" };

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

function drawnFrom(
  leaf: Leaf,
  { index, name }: Leaf,
  { source, stack }: { source: Source; stack: Stack },
): DrawnLeaf {
  const frames = stack.get(name) ?? 1;
  return { leaf, source, stored: index, frames, final: -1 };
}

function sourceOf(stored: number, ends: EpisodeSchema | undefined): Source {
  if (ends?.nStep === undefined) return "row";
  if (stored === ends.nStep.reward) return "return";
  const isFlag = stored === ends.terminated || stored === ends.truncated;
  return isFlag ? "last" : "row";
}

/** Frames by path. */
type Stack = ReadonlyMap<string, number>;

function stackOf(
  stack: Readonly<Record<string, number>>,
  stored: Schema,
): Stack {
  for (const [path, frames] of Object.entries(stack)) {
    findLeaf(path, stored, "stack");
    if (Number.isSafeInteger(frames) && frames > 0) continue;
    throw new RangeError(
      `Cannot stack ${frames} frames of '${path}': expected a whole number above 0`,
    );
  }
  return new Map(Object.entries(stack));
}

/** Fields with the shapes of their stacks. */
function mapFields(
  fields: Fields,
  stack: Stack,
  origins?: Readonly<Record<string, string>>,
): Fields {
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    stackField(field, origins?.[name] ?? name, stack),
  ]);
  return Object.fromEntries(entries);
}

/** Fields at the later steps of returns, and the discounts of those steps. */
function laterFields(
  fields: Fields,
  between: Readonly<Record<string, string>>,
  { stored, stack, steps }: { stored: Schema; stack: Stack; steps: number },
): { fields: Fields; discount: ArrayField } {
  for (const name of Object.values(between)) {
    checkName(name, stored, "draw between");
  }
  if (steps < 2) {
    throw new RangeError(
      `Cannot draw what is between the steps of a return of ${steps}: expected 2 steps or more`,
    );
  }
  const named = Object.entries(between).map(([name, origin]) => [
    name,
    repeatField(stackField(fields[origin], origin, stack), steps - 1),
  ]);
  return {
    fields: Object.fromEntries(named),
    discount: { shape: [steps - 1], dtype: SCALAR.dtype },
  };
}

/** A field several times in a row. */
function repeatField(field: Field, times: number): Field {
  if (typeof (field as ArrayField).dtype === "string") {
    const { shape, dtype } = field as ArrayField;
    return { shape: [times, ...shape], dtype };
  }
  const repeated = Object.entries(field).map((
    [key, child],
  ): [string, Field] => [
    key,
    repeatField(child, times),
  ]);
  if (Array.isArray(field)) return repeated.map(([, child]) => child);
  return Object.fromEntries(repeated);
}

function stackField(field: Field, path: string, stack: Stack): Field {
  if (typeof (field as ArrayField).dtype === "string") {
    const { shape, dtype } = field as ArrayField;
    const frames = stack.get(path);
    return frames === undefined
      ? { shape, dtype }
      : { shape: [...shape.slice(0, -1), (shape.at(-1) ?? 1) * frames], dtype };
  }
  const stacked = Object.entries(field).map(([key, child]): [string, Field] => [
    key,
    stackField(child, `${path}.${key}`, stack),
  ]);
  if (Array.isArray(field)) return stacked.map(([, child]) => child);
  return Object.fromEntries(stacked);
}

function episodeSchema(
  stored: Schema,
  { terminated, truncated, padding, nStep }: EpisodeOptions,
): EpisodeSchema {
  if (padding !== undefined && padding !== "repeat" && padding !== "zero") {
    throw new TypeError(
      `Cannot pad stacks by '${padding}': did you mean '${
        closest(padding, ["repeat", "zero"])
      }'?`,
    );
  }
  return {
    terminated: findFlag(terminated ?? "terminated", stored),
    truncated: findFlag(truncated ?? "truncated", stored),
    zeroPadding: padding === "zero",
    nStep: nStep && {
      steps: checkSteps(nStep.steps),
      gamma: checkGamma(nStep.gamma),
      reward: findReward(nStep.reward ?? "reward", stored),
      hasBetween: Object.keys(nStep.between ?? {}).length > 0,
    },
  };
}

function checkName(name: string, { root }: Schema, action: string): void {
  if (!root.keys.includes(name)) throw unknownField(action, root, name);
}

function findLeaf(
  path: string,
  { root, leaves }: Schema,
  action: string,
): Leaf {
  const leaf = leaves.find(({ name }) => name === path);
  if (leaf !== undefined) return leaf;
  const keys = leaves.map(({ name }) => name);
  throw unknownField(action, { ...root, keys }, path);
}

function findFlag(path: string, stored: Schema): number {
  const { index, size, dtype } = findLeaf(path, stored, "end episodes by");
  if (size === 1 && dtype === "uint8") return index;
  throw new TypeError(
    `Cannot end episodes by '${path}' of ${size} ${dtype} numbers: expected a single uint8`,
  );
}

function findReward(path: string, stored: Schema): number {
  const { index, size } = findLeaf(path, stored, "sum");
  if (size === 1) return index;
  throw new TypeError(
    `Cannot sum '${path}' of ${size} numbers: expected a single number`,
  );
}

function checkSteps(steps: number): number {
  if (Number.isSafeInteger(steps) && steps > 0) return steps;
  throw new RangeError(
    `Cannot sum ${steps} steps: expected a whole number above 0`,
  );
}

function checkGamma(gamma: number): number {
  if (gamma >= 0 && gamma <= 1) return gamma;
  throw new RangeError(
    `Cannot discount by ${gamma}: expected a number from 0 to 1`,
  );
}

/** Where the rows of a replay buffer lie. */
export interface ReplayLayout {
  readonly capacity: number;
  readonly numEnvs: number;
  /** Rows that there is room for at first. */
  readonly initialCapacity: number;
  /** One for each writer. */
  readonly rings: readonly RingOptions[];
  readonly shared: boolean | SharedReplay;
}

/** Throws unless sizes and kinds of storage fit each other. */
export function makeLayout(
  options: ReplayBufferOptions,
  { episodes, finalLeaves, maxFrames }: ReplaySchema,
): ReplayLayout {
  const { capacity, numEnvs = 1, writers = 1, shared = false } = options;
  const { initialCapacity = capacity } = options;
  checkCount("capacity", capacity);
  checkCount("numEnvs", numEnvs);
  checkCount("writers", writers);
  checkCount("initialCapacity", initialCapacity);
  checkKinds(options);
  // Rows that stand for themselves are steps of their own.
  const width = episodes === undefined ? 1 : numEnvs;
  checkMultiple(capacity, width * writers);
  const steps = capacity / (width * writers);
  if (steps < maxFrames) {
    throw new RangeError(
      `Cannot stack ${maxFrames} frames in a buffer of ${steps} steps: expected a capacity of ${
        maxFrames * width * writers
      } or more`,
    );
  }
  const rings = Array.from({ length: writers }, (_, writer): RingOptions => ({
    base: writer * steps * width,
    numEnvs: width,
    steps,
    margin: maxFrames - 1,
    // What comes after a step is then always in a row of its own.
    lag: shared !== false && finalLeaves.length > 0 ? 1 : 0,
  }));
  return {
    capacity,
    numEnvs,
    initialCapacity: Math.min(capacity, initialCapacity),
    rings,
    shared,
  };
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

function checkKinds(options: ReplayBufferOptions): void {
  const { eviction = "oldest", random, shared } = options;
  if (eviction !== "oldest" && eviction !== "reservoir") {
    throw new TypeError(
      `Cannot evict rows by '${eviction}': did you mean '${
        closest(eviction, ["oldest", "reservoir"])
      }'?`,
    );
  }
  if (eviction === "reservoir") {
    if (random === undefined) {
      throw new TypeError(
        "Cannot evict rows by 'reservoir' without randomness: expected the option 'random'",
      );
    }
    refuse("evict rows by 'reservoir'", options, ["episodes", "shared"]);
  }
  if (options.accumulator) refuse("accumulate rows", options, ["episodes"]);
  if (shared) refuse("share memory", options, ["initialCapacity", "storage"]);
  if (!shared && (options.writers ?? 1) > 1) {
    throw new TypeError(
      `Cannot have ${options.writers} writers: expected one, or the option 'shared'`,
    );
  }
}

function refuse(
  action: string,
  options: ReplayBufferOptions,
  names: readonly (keyof ReplayBufferOptions)[],
): void {
  for (const name of names) {
    if (!options[name]) continue;
    throw new TypeError(
      `Cannot ${action} with the option '${name}': expected one or the other`,
    );
  }
}
