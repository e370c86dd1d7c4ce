// deno-lint-ignore-file no-console -- a program that prints
/**
 * Processor time in milliseconds of ACKTR's compiled update, on the mean of the
 * ten updates from one inversion to the next, and of A2C's on the same rows.
 * With a `folder` it writes there what tf1_acktr.py is to repeat: parameters,
 * factors and their eigenvectors, batches, and all numbers after some updates.
 */
import {
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
import { type ActorCritic, actorCritic, nest, scope } from "@bellman/policies";
import type * as tf from "@tensorflow/tfjs";
import { makeLearner } from "./a2c_learner.ts";
import { medianMs, processorMs } from "./median_ms.ts";
import { drawObservations, type Setup, SETUPS } from "./setups.ts";

/** Networks and rows; runs of ten updates that are timed. */
const CASES = {
  mlp_640: { setup: SETUPS.mlp, rows: 640, runs: 7 },
  mlp_320: { setup: SETUPS.mlp, rows: 320, runs: 7 },
  cnn_640: { setup: SETUPS.cnn, rows: 640, runs: 1 },
};
const { invertEvery } = defaultAcktrConfig;
/** Settings of the original: it takes the rollout's actions for its statistics. */
const CONFIG = {
  ...defaultAcktrConfig,
  valueNetwork: "shared",
  objective: "shared",
  fisherActions: "taken",
  coldUpdates: 0,
} as const;
/** Updates before the first inversion. */
const WARM_UP = 2;
/** Updates that are compared; after the second one the factors are inverted. */
const COMPARED = 3;
const NUMBERS = {
  learningRate: 0.25,
  valueLearningRate: 0.25,
  coldRatio: 1e-3,
  entropyCoefficient: CONFIG.entropyCoefficient,
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
    valueNoise: normal(),
  };
}

/** Compiles the update, and takes it as an agent does, inversions included. */
function compileUpdate(model: ActorCritic, rows: number, random: RandomStream) {
  const params = model.init(random);
  const update = acktrUpdate(model, actorCriticLayers(model, params), CONFIG);
  const [{ name, kfac }] = update.steps;
  const { shape, dtype } = model.observationInput;
  const column: TensorType = { shape: [rows], dtype: "float32" };
  const number: TensorType = { shape: [], dtype: "float32" };
  const state = { params, slots: update.init(params) };
  const step = compileStep((held: typeof state, given: unknown) => {
    const { observations, ...inputs } = given as Record<string, tf.Tensor>;
    const batch = { ...inputs, observations: model.encode(observations) };
    const { params, optimizerState, stats } = update.apply(
      held.params,
      held.slots,
      batch as never,
      inputs as never,
    );
    return { state: { params, slots: optimizerState }, stats };
  }, {
    state,
    inputs: {
      observations: { shape: [rows, ...shape], dtype },
      actions: { shape: [rows], dtype: "int32" },
      advantages: column,
      returns: column,
      valueNoise: { shape: [rows, 1], dtype: "float32" },
      learningRate: number,
      valueLearningRate: number,
      coldRatio: number,
      entropyCoefficient: number,
    },
    engine: "onnx",
    threads: 1,
  });
  const read = () => step.read() as { params: Arrays; slots: Arrays };
  const write = ({ params, slots }: ReturnType<typeof read>) =>
    step.write({ params, slots } as never);
  return {
    run: (inputs: Parameters<typeof step.run>[0]) => step.run(inputs),
    read,
    write,
    /** Inverts the factors where that is due after an update. */
    invert(done: number) {
      let params: Arrays = {};
      const inverted = kfac.refresh(done, () => {
        const state = read();
        params = state.params;
        return scope(state.slots, name);
      });
      if (inverted) {
        write({ params, slots: nest(inverted, name) as unknown as Arrays });
      }
    },
  };
}

type Learner = ReturnType<typeof compileUpdate>;

/** Runs some updates, and keeps what went into them and what came out. */
function record(
  { run, read, invert }: Learner,
  batches: readonly ReturnType<typeof drawBatch>[],
  { observationSpace: { shape } }: Setup,
): Record<string, NpyArray> {
  const arrays: Record<string, NpyArray> = {};
  const keep = (when: string) => {
    for (const [part, held] of Object.entries(read())) {
      for (const path in held) arrays[`${when}:${part}:${path}`] = held[path];
    }
  };
  keep("before");
  for (const [i, batch] of batches.entries()) {
    const { stats } = run({ ...batch, ...NUMBERS });
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
    if (i === 1) invert(invertEvery);
  }
  keep("after");
  return arrays;
}

async function measure(name: keyof typeof CASES, folder?: string) {
  const { setup, rows, runs } = CASES[name];
  const random = new RandomStream(1);
  const model = actorCritic({
    observationSpace: setup.observationSpace,
    actionSpace: { type: "discrete", n: setup.actions },
    network: setup.network,
  });
  const learner = compileUpdate(model, rows, random);
  const { run, invert, read, write } = learner;
  for (let i = 0; i < WARM_UP; i++) {
    run({ ...drawBatch(setup, rows, random), ...NUMBERS });
  }
  invert(invertEvery);
  const state = read();
  const count = { data: Float32Array.of(MANY), shape: [] };
  write({ ...state, slots: { ...state.slots, "all/count": count } });
  const batches = Array.from(
    { length: COMPARED },
    () => drawBatch(setup, rows, random),
  );
  if (folder !== undefined) {
    await Deno.mkdir(folder, { recursive: true });
    await saveNpz(
      record(learner, batches, setup),
      `${folder}/acktr_${name}.npz`,
    );
  }
  const [batch] = batches, inputs = { ...batch, ...NUMBERS };
  const warmUp = runs === 1 ? 0 : 3;
  const period = () => {
    for (let done = 1; done <= invertEvery; done++) {
      run(inputs);
      invert(done);
    }
  };
  const timed = { runs, warmUp, now: processorMs };
  const ms = medianMs(period, timed) / invertEvery;
  const { valueNoise: _, ...given } = inputs;
  const params = model.init(random);
  const a2c = makeLearner(model, { params, rows });
  const calls = invertEvery;
  const a2cMs = medianMs(() => a2c.run(given), { ...timed, calls });
  return {
    [`${name}_ms`]: ms,
    [`${name}_a2c_ms`]: a2cMs,
    [`${name}_cost`]: ms / a2cMs,
  };
}

const { folder } = JSON.parse(Deno.args[0]) as { folder?: string };
await selectBackend("cpu");
const figures: Record<string, number> = {};
for (const name of Object.keys(CASES) as (keyof typeof CASES)[]) {
  Object.assign(figures, await measure(name, folder));
}
console.log(JSON.stringify(figures));
