import { assertEquals } from "@std/assert";
import type { FieldArray, FieldDtype, FieldValues } from "../fields.ts";
import type { Batch, ReplayBufferOptions } from "../replay/options.ts";
import { ReplayBuffer } from "../replay/replay_buffer.ts";
import type { Random } from "../samplers/sampler.ts";
import { type NaiveOptions, NaiveReplay } from "./naive_replay.ts";
import { testRandom } from "./random.ts";
import { ToldSampler } from "./told_sampler.ts";

const CAMERAS = [[], [1], [3], [2, 1], [9, 9, 1], [2, 2], [130]] as const;
const DTYPES: readonly FieldDtype[] = ["uint8", "int32", "float32", "float64"];

/** A buffer and its naive model, of a kind chosen by chance. */
interface Pair {
  readonly naive: NaiveReplay;
  readonly naiveOptions: NaiveOptions;
  readonly options: ReplayBufferOptions;
  readonly hasNext: boolean;
  buffer: ReplayBuffer;
  /** The buffer's. */
  sampler: ToldSampler;
}

function choose<T>(random: Random, choices: readonly T[]): T {
  return choices[random.integer(choices.length)];
}

function makePair(random: Random): Pair {
  const cameraShape = choose(random, CAMERAS);
  const dtype = choose(random, DTYPES);
  const hasNext = random.uniform() < 0.8;
  const frames = choose(random, [1, 1, 2, 4]);
  const naiveOptions: NaiveOptions = {
    numEnvs: 1 + random.integer(4),
    steps: frames + random.integer(8),
    frames,
    nStep: choose(random, [0, 1, 2, 4]),
    gamma: choose(random, [0, 0.5, 1]),
    frameSize: cameraShape.reduce<number>((size, it) => size * it, 1),
    channels: cameraShape.at(-1) ?? 1,
    jointSize: 1 + random.integer(3),
  };
  const options = optionsOf(naiveOptions, {
    random,
    dtype,
    cameraShape,
    hasNext,
  });
  const sampler = new ToldSampler();
  const buffer = new ReplayBuffer({ ...options, sampler });
  const naive = new NaiveReplay(naiveOptions);
  return { naive, naiveOptions, options, hasNext, buffer, sampler };
}

function optionsOf(
  { numEnvs, steps, frames, nStep, gamma, jointSize }: NaiveOptions,
  { random, dtype, cameraShape, hasNext }: {
    random: Random;
    dtype: FieldDtype;
    cameraShape: readonly number[];
    hasNext: boolean;
  },
): ReplayBufferOptions {
  const flag = { shape: [], dtype: "uint8" } as const;
  return {
    capacity: steps * numEnvs,
    numEnvs,
    fields: {
      seen: {
        camera: { shape: cameraShape, dtype },
        parts: [{ shape: [jointSize], dtype: "float32" }],
      },
      action: { shape: [2], dtype: "float64" },
      reward: { shape: [], dtype: "float32" },
      terminated: flag,
      cut: flag,
    },
    episodes: {
      truncated: "cut",
      next: hasNext ? { after: "seen" } : undefined,
      stack: frames > 1 || random.uniform() < 0.5
        ? { "seen.camera": frames }
        : undefined,
      nStep: nStep > 0
        ? {
          steps: nStep,
          gamma,
          ...(nStep > 1 && {
            between: { later: "seen", laterReward: "reward" },
            betweenDiscount: "laterDiscount",
          }),
        }
        : undefined,
    },
  };
}

/** Adds steps to both, in arrays of several kinds. */
function addSteps(pair: Pair, random: Random, count: number): void {
  const endings = choose(random, [0, 0.2, 0.7]);
  const rows = Array.from(
    { length: count },
    () => pair.naive.step(random, endings),
  ).flat();
  type Row = typeof rows[0];
  const all = (pick: (row: Row) => readonly number[]) => rows.flatMap(pick);
  const typed = random.uniform() < 0.5;
  const camera = (numbers: number[]) =>
    typed ? Uint8Array.from(numbers) : numbers;
  const seenOf = (pick: (row: Row) => Row["seen"]) => ({
    camera: camera(all((row) => pick(row).camera)),
    parts: [Float32Array.from(all((row) => pick(row).joints))],
  });
  const values: Record<string, FieldValues> = {
    seen: seenOf(({ seen }) => seen),
    action: all(({ action }) => action),
    reward: Float64Array.from(rows, ({ reward }) => reward),
    terminated: rows.map(({ terminated }) => terminated),
    cut: rows.map(({ truncated }) => truncated),
  };
  if (pair.hasNext) values.after = seenOf(({ next }) => next);
  if (count === 1) pair.buffer.add(values);
  else pair.buffer.addBatch(values, rows.length);
}

/** Fails unless a batch holds what the model has for its slots. */
function checkBatch(
  { naive, naiveOptions, hasNext }: Pair,
  batch: Batch,
): void {
  const drawable = naive.drawable();
  const arrays = arraysOf(batch, naiveOptions.nStep, hasNext);
  batch.slots.forEach((slot, i) => {
    const place = drawable.get(slot);
    if (place === undefined) throw new Error(`slot ${slot} is not held`);
    const row = naive.row(place.step, place.env);
    for (const [name, array] of Object.entries(arrays)) {
      const wanted = row[name];
      const from = i * wanted.length;
      if (wanted.every((it, j) => array[from + j] === it)) continue;
      const drawn = array.slice(from, from + wanted.length);
      assertEquals([...drawn], wanted, `${name} of slot ${slot}`);
    }
  });
}

function arraysOf(
  { seen, after, action, reward, terminated, cut, discount, ...rest }: Batch,
  nStep: number,
  hasNext: boolean,
): Record<string, FieldArray> {
  type Seen = { camera: FieldArray; parts: [FieldArray] };
  const { camera, parts: [joints] } = seen as Seen;
  const arrays = { camera, joints, action, reward, terminated, truncated: cut };
  if (nStep > 0) Object.assign(arrays, { discount });
  if (nStep > 1) {
    const { later, laterReward, laterDiscount } = rest;
    const { camera: laterCamera, parts } = later as Seen;
    const laterJoints = parts[0];
    const found = { laterCamera, laterJoints, laterReward, laterDiscount };
    Object.assign(arrays, found);
  }
  if (hasNext) {
    const { camera, parts: [joints] } = after as Seen;
    Object.assign(arrays, { nextCamera: camera, nextJoints: joints });
  }
  return arrays as Record<string, FieldArray>;
}

function checkAll(pair: Pair): void {
  const { buffer, naive, sampler } = pair;
  const slots = [...naive.drawable().keys()];
  assertEquals([...buffer.slots()], slots);
  assertEquals(sampler.slots, new Set(slots));
  assertEquals(buffer.length, slots.length);
  if (slots.length > 0) checkBatch(pair, buffer.gather(slots));
}

function sample(pair: Pair, random: Random): void {
  const { buffer } = pair;
  if (buffer.length === 0) return;
  const size = 1 + random.integer(buffer.length);
  const into = buffer.batch(size);
  checkBatch(pair, buffer.sample(random, { into }));
}

/** Goes on with another buffer that loads what this one saves. */
function saveAndLoad(pair: Pair, random: Random): void {
  const copy = random.uniform() < 0.5;
  const sampler = new ToldSampler();
  const other = new ReplayBuffer({ ...pair.options, sampler });
  other.load(pair.buffer.save({ copy }));
  const [a, b] = [pair.buffer, other].map((it) => it.save());
  assertEquals(b, a);
  pair.buffer = other;
  pair.sampler = sampler;
}

function operate(pair: Pair, random: Random): void {
  const chance = random.uniform();
  if (chance < 0.55) addSteps(pair, random, 1);
  else if (chance < 0.7) addSteps(pair, random, 2 + random.integer(12));
  else if (chance < 0.85) sample(pair, random);
  else if (chance < 0.9) saveAndLoad(pair, random);
  else if (chance < 0.93) {
    pair.buffer.clear();
    pair.naive.clear();
  } else if (chance < 0.98) {
    const flag = choose(random, ["truncated", "terminated"] as const);
    pair.buffer.endEpisodes(flag);
    pair.naive.endEpisodes(flag);
  }
}

/** Takes one buffer through operations by chance, next to the naive model. */
export function runSequence(seed: number): void {
  const random = testRandom(seed);
  const pair = makePair(random);
  const count = 1 + random.integer(20);
  for (let i = 0; i < count; i++) {
    operate(pair, random);
    if (random.uniform() < 0.1) checkAll(pair);
  }
  checkAll(pair);
}
