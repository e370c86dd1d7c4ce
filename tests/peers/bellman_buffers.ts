// deno-lint-ignore-file no-console -- a program that prints
/**
 * Microseconds of these buffers, and their memory for each row. Next
 * observations are stored once; episodes take 1000 steps.
 */
import { PrioritizedReplayBuffer, ReplayBuffer } from "@bellman/buffers";
import { RandomStream } from "@bellman/compute";
import { medianMs } from "./median_ms.ts";

const CAPACITY = 1_000_000, OBSERVATION = 17, ACTION = 6, ENVS = 16;
const FRAMES = 20_000, PIXELS = 84 * 84, STACK = 4;
const BATCH = 256, FRAME_BATCH = 32, EPISODE = 1000;

const task = { runs: 15, seed: 0, ...JSON.parse(Deno.args[0]) };
const random = new RandomStream(task.seed);
const NUMBER = { shape: [], dtype: "float32" } as const;
const FLAG = { shape: [], dtype: "uint8" } as const;
const NEXT = { nextObservation: "observation" };

type Step = ReturnType<typeof transition> | ReturnType<typeof frame>;

function transitions(numEnvs: number) {
  return {
    capacity: CAPACITY,
    numEnvs,
    fields: {
      observation: { shape: [OBSERVATION], dtype: "float32" },
      action: { shape: [ACTION], dtype: "float32" },
      reward: NUMBER,
      terminated: FLAG,
      truncated: FLAG,
    },
    episodes: { next: NEXT },
  } as const;
}

function transition(envs: number) {
  const uniform = (size: number) =>
    random.fillUniform(new Float32Array(envs * size));
  return {
    observation: uniform(OBSERVATION),
    action: uniform(ACTION),
    reward: uniform(1),
    terminated: new Uint8Array(envs),
    truncated: new Uint8Array(envs),
    nextObservation: uniform(OBSERVATION),
  };
}

function frame() {
  const pixels = () =>
    Uint8Array.from({ length: PIXELS }, () => random.integer(256));
  return {
    observation: pixels(),
    action: Int32Array.of(1),
    reward: Float32Array.of(0.5),
    terminated: new Uint8Array(1),
    truncated: new Uint8Array(1),
    nextObservation: pixels(),
  };
}

/** Microseconds of a call with a row each time. */
function microseconds<Row>(
  call: (row: Row) => void,
  { rows, calls = 1000 }: { rows: readonly Row[]; calls?: number },
): number {
  let next = 0;
  const once = () => call(rows[next++ % rows.length]);
  return 1000 * medianMs(once, { runs: task.runs, calls });
}

/** Adds steps until a buffer is full; some of them end an episode. */
function filled<B extends ReplayBuffer>(buffer: B, steps: readonly Step[]): B {
  for (let i = 0; i < buffer.capacity / buffer.numEnvs; i++) {
    const step = steps[i % steps.length];
    step.truncated.fill(Number((i + 1) % EPISODE === 0));
    buffer.add(step);
  }
  for (const step of steps) step.truncated.fill(0);
  return buffer;
}

/** The memory of a row, and of what is kept at its side. */
const bytes = ({ byteLength, capacity }: ReplayBuffer): number =>
  byteLength / capacity;

function adding(buffer: ReplayBuffer, rows: readonly Step[]): number {
  return microseconds((step) => buffer.add(step), { rows });
}

function sampling(
  buffer: ReplayBuffer,
  { size, calls }: { size: number; calls?: number },
): number {
  const into = buffer.batch(size);
  const sample = () => buffer.sample(random, { into });
  return microseconds(sample, { rows: [null], calls });
}

function addingMany(make: (numEnvs: number) => ReplayBuffer): number {
  const steps = Array.from({ length: 100 }, () => transition(ENVS));
  return adding(filled(make(ENVS), steps), steps);
}

function uniform() {
  const steps = Array.from({ length: 1000 }, () => transition(1));
  const make = (numEnvs: number) => new ReplayBuffer(transitions(numEnvs));
  const buffer = filled(make(1), steps);
  return {
    add_us: adding(buffer, steps),
    sample_us: sampling(buffer, { size: BATCH }),
    add16_us: addingMany(make),
    bytes: bytes(buffer),
  };
}

/** Gives each row a priority of its own. */
function prioritize(buffer: PrioritizedReplayBuffer): void {
  const slots = Int32Array.from({ length: buffer.capacity }, (_, i) => i);
  const priorities = Float32Array.from(slots, () => 1e-4 + random.uniform());
  buffer.updatePriorities(slots, priorities);
}

function prioritized() {
  const steps = Array.from({ length: 1000 }, () => transition(1));
  const make = (numEnvs: number) =>
    new PrioritizedReplayBuffer(transitions(numEnvs));
  const buffer = filled(make(1), steps);
  prioritize(buffer);
  const rows = Array.from(
    { length: 100 },
    () => Int32Array.from({ length: BATCH }, () => random.integer(CAPACITY)),
  );
  const errors = Float32Array.from(
    { length: BATCH },
    () => 1e-4 + random.uniform(),
  );
  const update = (slots: Int32Array) => buffer.updatePriorities(slots, errors);
  const into = buffer.batch(BATCH);
  const learn = () => update(buffer.sample(random, { into }).slots);
  return {
    add_us: adding(buffer, steps),
    sample_us: sampling(buffer, { size: BATCH }),
    update_us: microseconds(update, { rows }),
    learn_us: microseconds(learn, { rows: [null] }),
    add16_us: addingMany(make),
  };
}

function frames() {
  const steps = Array.from({ length: 256 }, frame);
  const buffer = new ReplayBuffer({
    capacity: FRAMES,
    fields: {
      observation: { shape: [84, 84, 1], dtype: "uint8" },
      action: { shape: [], dtype: "int32" },
      reward: NUMBER,
      terminated: FLAG,
      truncated: FLAG,
    },
    episodes: { next: NEXT, stack: { observation: STACK } },
  });
  filled(buffer, steps);
  return {
    add_us: adding(buffer, steps),
    sample_us: sampling(buffer, { size: FRAME_BATCH, calls: 200 }),
    bytes: bytes(buffer),
  };
}

console.log(JSON.stringify({
  frames: frames(),
  uniform: uniform(),
  prioritized: prioritized(),
}));
