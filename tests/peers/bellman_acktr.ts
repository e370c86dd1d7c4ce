// deno-lint-ignore-file no-console -- a program that prints
/**
 * Processor time in milliseconds of ACKTR's compiled update, on the mean of the
 * updates from one inversion to the next, by default and with the original's
 * statistics, and of A2C's on the same rows.
 * With a `folder` it writes there what tf1_acktr.py is to repeat: parameters,
 * factors and their eigenvectors, batches, and all numbers after some updates.
 */
import {
  type AcktrConfig,
  acktrUpdate,
  actorCriticLayers,
  defaultAcktrConfig,
} from "@bellman/acktr";
import {
  compileStep,
  RandomStream,
  selectBackend,
  type TensorData,
  type TensorType,
} from "@bellman/compute";
import { type NpyArray, saveNpz } from "@bellman/files/npz";
import {
  type ActorCritic,
  actorCritic,
  addPrefix,
  type ObservationInput,
  pickPrefix,
} from "@bellman/policies";
import type * as tf from "@tensorflow/tfjs";
import { makeLearner } from "./a2c_learner.ts";
import { medianMs, processorMs } from "./median_ms.ts";
import { drawObservations, type Setup, SETUPS } from "./setups.ts";

/**
 * Networks and rows; periods from one inversion to the next that are timed, and those
 * before: inversions are JavaScript, which becomes fast code only as it runs.
 */
const CASES = {
  mlp_640: { setup: SETUPS.mlp, rows: 640, runs: 15, warmUp: 40 },
  mlp_320: { setup: SETUPS.mlp, rows: 320, runs: 15, warmUp: 40 },
  cnn_640: { setup: SETUPS.cnn, rows: 640, runs: 1, warmUp: 1 },
};
const DEFAULT = {
  ...defaultAcktrConfig,
  valueNetwork: "shared",
  coldUpdates: 0,
} as const;
/** Settings of the original, with statistics of all steps of every update. */
const ORIGINAL = {
  ...DEFAULT,
  kfacForm: "eigenbasis",
  fisherActions: "taken",
  valueCoefficient: 0.5,
  valueFisherCoefficient: 1,
  klClip: 0.001,
  klClipKind: "norm_constraint",
  damping: 0.01,
  momentum: 0.9,
  statisticsDecay: 0.99,
  covUpdateEvery: 1,
  invertEvery: 10,
  // The original finds eigenvectors in single precision, too.
  inversionPrecision: "single",
  convolutionExamples: 1e9,
  largestBasis: 1e9,
} as const;
const { invertEvery } = ORIGINAL;
/** Numbers of the first updates; after the last one is an inversion. */
const WARM_UP = [0, 1, invertEvery];
/** Numbers of updates that are compared; after the second one is an inversion. */
const COMPARED = [2 * invertEvery - 1, 2 * invertEvery, 2 * invertEvery + 1];
const NUMBERS = {
  learningRate: 0.25,
  valueLearningRate: 0.25,
  coldRatio: 1e-3,
  entropyCoefficient: 0.01,
};
/** Batches behind averages that have long forgotten how they started. */
const MANY = 1e6;

type Arrays = Record<string, { data: TensorData; shape: number[] }>;

function drawBatch(setup: Setup, rows: number, random: RandomStream) {
  const normal = () => random.fillNormal(new Float32Array(rows));
  return {
    observations: drawObservations(setup, { rows, random }),
    actions: Int32Array.from(
      { length: rows },
      () => random.integer(setup.actions),
    ),
    advantages: normal(),
    returns: normal(),
    actionNoise: random.fillUniform(new Float32Array(rows * setup.actions)),
    valueNoise: normal(),
  };
}

/** Compiles the update, and takes it as an agent does, inversions included. */
function compileUpdate(
  model: ActorCritic,
  { config, rows, random }: {
    config: AcktrConfig;
    rows: number;
    random: RandomStream;
  },
) {
  const params = model.init(random);
  const update = acktrUpdate(model, actorCriticLayers(model, params), config);
  const [{ name, kfac }] = update.steps;
  const { shape, dtype } = model.observationInput as ObservationInput;
  const column: TensorType = { shape: [rows], dtype: "float32" };
  const number: TensorType = { shape: [], dtype: "float32" };
  const noise = model.distribution.noise.size;
  const state = update.init(params);
  const stepOf =
    (kind: "apply" | "applyLight") => (held: typeof state, given: unknown) => {
      const { observations, ...inputs } = given as Record<string, tf.Tensor>;
      const batch = { ...inputs, observations: model.encode(observations) };
      const { state, stats } = update[kind](
        held,
        batch as never,
        inputs as never,
      );
      return { state, stats };
    };
  const full = compileStep(stepOf("apply"), {
    state,
    inputs: {
      observations: { shape: [rows, ...shape], dtype },
      actions: { shape: [rows], dtype: "int32" },
      advantages: column,
      returns: column,
      actionNoise: { shape: [rows, noise], dtype: "float32" },
      valueNoise: { shape: [rows, 1], dtype: "float32" },
      learningRate: number,
      valueLearningRate: number,
      coldRatio: number,
      entropyCoefficient: number,
    },
    engine: "onnx",
    threads: 1,
  });
  const light = config.covUpdateEvery === 1
    ? full
    : full.also(stepOf("applyLight"));
  const read = () => full.read() as { policy: Arrays; optimizer: Arrays };
  return {
    read,
    write: (state: ReturnType<typeof read>) => full.write(state as never),
    /** Takes an update by its number, from 0, and inverts where that is due. */
    take(at: number, batch: Batch) {
      const inputs = { ...batch, ...NUMBERS };
      const step = update.needsStatistics(at) ? full : light;
      const { stats } = step.run(inputs);
      const inverted = kfac.refresh(
        at,
        () => pickPrefix(read().optimizer, name),
      );
      if (inverted) {
        full.writePart({ optimizer: addPrefix(inverted, name) } as never);
      }
      return stats;
    },
  };
}

type Batch = ReturnType<typeof drawBatch>;
type Learner = ReturnType<typeof compileUpdate>;

/** Takes some updates, and keeps what went into them and what came out. */
function record(
  { take, read }: Learner,
  batches: readonly Batch[],
  { observationSpace: { shape } }: Setup,
): Record<string, NpyArray> {
  const arrays: Record<string, NpyArray> = {};
  const keep = (when: string) => {
    for (const [part, held] of Object.entries(read())) {
      for (const path in held) arrays[`${when}:${part}:${path}`] = held[path];
    }
  };
  keep("before");
  for (const [i, { actionNoise: _, ...batch }] of batches.entries()) {
    const stats = take(COMPARED[i], batches[i]);
    for (const [name, data] of Object.entries(batch)) {
      const rows = batch.actions.length;
      const isImage = name === "observations";
      arrays[`batch${i}:${name}`] = {
        data,
        shape: isImage ? [rows, ...shape] : [rows],
      };
    }
    for (const [name, data] of Object.entries(stats)) {
      arrays[`stats${i}:${name}`] = {
        data: (data as TensorData).slice(),
        shape: [],
      };
    }
  }
  keep("after");
  return arrays;
}

async function measure(name: keyof typeof CASES, folder?: string) {
  const { setup, rows, runs, warmUp } = CASES[name];
  const random = new RandomStream(1);
  const model = actorCritic({
    observationSpace: setup.observationSpace,
    actionSpace: { type: "discrete", n: setup.actions },
    network: setup.network,
  });
  const compiled = (config: AcktrConfig) =>
    compileUpdate(model, { config, rows, random });
  const draw = () => drawBatch(setup, rows, random);
  const original = compiled(ORIGINAL);
  for (const at of WARM_UP) original.take(at, draw());
  const { policy, optimizer } = original.read();
  const scalar = (value: number) => ({
    data: Float32Array.of(value),
    shape: [],
  });
  const state = {
    policy,
    optimizer: {
      ...optimizer,
      "all/count": scalar(MANY),
      "all/step": scalar(COMPARED[0]),
    },
  };
  original.write(state);
  const batches = COMPARED.map(draw), [batch] = batches;
  if (folder !== undefined) {
    await Deno.mkdir(folder, { recursive: true });
    const arrays = record(original, batches, setup);
    await saveNpz(arrays, `${folder}/acktr_${name}.npz`);
  }
  const timed = { runs, warmUp, now: processorMs };
  const meanMs = ({ take }: Learner, updates: number) => {
    const period = () => {
      for (let i = 0; i < updates; i++) take(2 * updates + i, batch);
    };
    return medianMs(period, timed) / updates;
  };
  const originalMs = meanMs(original, invertEvery);
  const own = compiled(DEFAULT);
  own.take(1, batch);
  const ms = meanMs(own, DEFAULT.invertEvery);
  const a2c = makeLearner(model, { params: model.init(random), rows });
  const { actionNoise: _, valueNoise: __, ...given } = batch;
  const inputs = { ...given, ...NUMBERS };
  const calls = invertEvery;
  const a2cMs = medianMs(() => a2c.run(inputs), { ...timed, calls });
  return {
    [`${name}_ms`]: ms,
    [`${name}_original_ms`]: originalMs,
    [`${name}_a2c_ms`]: a2cMs,
    [`${name}_cost`]: ms / a2cMs,
  };
}

const { folder, cases } = JSON.parse(Deno.args[0]) as {
  folder?: string;
  cases: (keyof typeof CASES)[];
};
await selectBackend("cpu");
const figures: Record<string, number> = {};
for (const name of cases) {
  Object.assign(figures, await measure(name, folder));
}
console.log(JSON.stringify(figures));
