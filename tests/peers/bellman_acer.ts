// deno-lint-ignore-file no-console -- a program that prints
/**
 * Processor time in milliseconds of ACER's compiled update, 16 environments by 20 steps, with an
 * MLP and with the Nature CNN: with all statistics, and in rounds as an agent has
 * them, whose last update alone has some. With a `folder` it writes there what
 * tf1_acer.py is to repeat: parameters, segments, and all numbers after some
 * updates.
 */
import { acerUpdate, initAcerState } from "@bellman/acer";
import { sequenceRows } from "@bellman/agent";
import {
  compileStep,
  type Engine,
  mapParams,
  RandomStream,
  rmspropTf1,
  selectBackend,
  type TensorData,
} from "@bellman/compute";
import { type NpyArray, saveNpz } from "@bellman/files/npz";
import {
  type ObservationInput,
  type QActorCritic,
  qActorCritic,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { medianMs, processorMs } from "./median_ms.ts";
import { drawObservations, type Setup, SETUPS } from "./setups.ts";

const { folder, engine = "onnx" } = JSON.parse(Deno.args[0]) as {
  folder?: string;
  engine?: Engine;
};
const ENVS = 16, STEPS = 20;
/** Rows of an environment as the original has them: steps and what follows. */
const LEAST_ROWS = STEPS + 1;
const LEARNING_RATE = 7e-4;
/** Updates that are compared: with statistics or without. */
const COMPARED = ["all", "quiet", "all"] as const;
/** Updates of a round: one from new steps, and as many replayed as by default. */
const ROUND = 5;

/** Runs that are timed, and calls in each. */
const REPEATS = {
  mlp: { runs: 15, calls: 40 },
  cnn: { runs: 11, calls: 1 },
};

/** Numbers of steps, env-major, and the observations of one row more. */
interface Steps {
  readonly observations: Float32Array | Uint8Array;
  readonly actions: Int32Array;
  readonly rewards: Float32Array;
  readonly terminated: Float32Array;
  readonly mu: Float32Array;
}

function drawSteps(setup: Setup, random: RandomStream): Steps {
  const steps = ENVS * STEPS, { actions } = setup;
  const mu = new Float32Array(steps * actions);
  for (let step = 0; step < steps; step++) {
    const row = mu.subarray(step * actions, (step + 1) * actions);
    random.fillUniform(row);
    // Some actions are rare, so that importance weights are cut.
    row.set(row.map((it) => it ** 4 + 0.001));
    const sum = row.reduce((a, b) => a + b);
    row.set(row.map((it) => it / sum));
  }
  return {
    observations: drawObservations(setup, { rows: ENVS * LEAST_ROWS, random }),
    actions: Int32Array.from({ length: steps }, () => random.integer(actions)),
    rewards: random.fillNormal(new Float32Array(steps)),
    terminated: random.fillUniform(new Float32Array(steps))
      .map((it) => Number(it < 0.05)),
    mu,
  };
}

/** Puts the `from` rows of each environment into `to`, the rest being 0. */
function padded<T extends TensorData>(data: T, from: number, to: number): T {
  const size = data.length / (ENVS * from);
  const all = new (data.constructor as new (length: number) => T)(
    ENVS * to * size,
  );
  for (let env = 0; env < ENVS; env++) {
    const rows = data.subarray(env * from * size, (env + 1) * from * size);
    all.set(rows as never, env * to * size);
  }
  return all;
}

/** The update's inputs: `rows` of each environment, the last ones empty. */
function inputsOf(steps: Steps, rows: number) {
  const of = <T extends TensorData>(data: T) => padded(data, STEPS, rows);
  return {
    observations: padded(steps.observations, LEAST_ROWS, rows),
    actions: of(steps.actions),
    rewards: of(steps.rewards),
    terminated: of(steps.terminated),
    mu: of(steps.mu),
    taken: of(new Float32Array(ENVS * STEPS).fill(1)),
    learningRate: LEARNING_RATE,
  };
}

/** Compiles the update as an agent does: with statistics and without. */
function compileUpdates(
  model: QActorCritic,
  { state, rows, actions }: {
    state: ReturnType<typeof initAcerState>;
    rows: number;
    actions: number;
  },
) {
  const optimizer = rmspropTf1();
  const update = acerUpdate(model, { optimizer, numEnvs: ENVS });
  const quiet = acerUpdate(model, {
    optimizer,
    numEnvs: ENVS,
    partNorms: false,
  });
  const step = (
    of: typeof update,
    held: typeof state,
    { learningRate, observations, ...batch }: Record<string, tf.Tensor>,
  ) =>
    of(held, {
      ...batch,
      observations: model.encode(observations),
    } as never, { learningRate: learningRate as tf.Scalar });
  const count = ENVS * rows,
    { shape, dtype } = model.observationInput as ObservationInput;
  const column = { shape: [count], dtype: "float32" } as const;
  const all = compileStep((held: typeof state, given) => {
    const { state, stats } = step(update, held, given);
    return { state, stats };
  }, {
    state,
    inputs: {
      observations: { shape: [count, ...shape], dtype },
      actions: { shape: [count], dtype: "int32" },
      rewards: column,
      terminated: column,
      taken: column,
      mu: { shape: [count, actions], dtype: "float32" },
      learningRate: { shape: [], dtype: "float32" },
    },
    engine,
    threads: 1,
  });
  return {
    all,
    quiet: all.also((held, given) => ({
      state: step(quiet, held, given).state,
    })),
  };
}

type Learners = ReturnType<typeof compileUpdates>;

/** Arrays of a state or of statistics by `prefix/path`. */
function named(
  prefix: string,
  arrays: Readonly<Record<string, NpyArray>>,
): Record<string, NpyArray> {
  return Object.fromEntries(
    Object.entries(arrays).map(([path, it]) => [`${prefix}:${path}`, it]),
  );
}

/** Runs some updates, and keeps what went into them and what came out. */
function record(learners: Learners, setup: Setup, batches: readonly Steps[]) {
  const steps = ENVS * STEPS, { shape } = setup.observationSpace;
  const arrays: Record<string, NpyArray> = {};
  const keep = (when: string) => {
    const held = learners.all.read() as unknown as Record<
      string,
      Record<string, NpyArray>
    >;
    for (const part of ["policy", "average", "slots"]) {
      Object.assign(arrays, named(`${when}:${part}`, held[part]));
    }
  };
  keep("before");
  for (const [i, batch] of batches.entries()) {
    Object.assign(
      arrays,
      named(`batch${i}`, {
        observations: {
          data: batch.observations,
          shape: [ENVS * LEAST_ROWS, ...shape],
        },
        actions: { data: batch.actions, shape: [steps] },
        rewards: { data: batch.rewards, shape: [steps] },
        terminated: { data: batch.terminated, shape: [steps] },
        mu: { data: batch.mu, shape: [steps, setup.actions] },
      }),
    );
    const result = learners[COMPARED[i]].run(inputsOf(batch, LEAST_ROWS));
    const { stats = {} } = result as { stats?: Record<string, Float32Array> };
    for (const [name, data] of Object.entries(stats)) {
      arrays[`stats${i}:${name}`] = { data: data.slice(), shape: [] };
    }
  }
  keep("after");
  return arrays;
}

async function measure(name: keyof typeof SETUPS, folder?: string) {
  const setup = SETUPS[name], { actions } = setup;
  const random = new RandomStream(1);
  const model = qActorCritic({
    observationSpace: setup.observationSpace,
    actionSpace: { type: "discrete", n: actions },
    network: setup.network,
  });
  const policy = model.init(random);
  const state = {
    ...initAcerState(policy, rmspropTf1()),
    // An average that lags behind, so that the trust region takes effect.
    average: mapParams(policy, (it) => {
      const noise = random.fillNormal(new Float32Array(it.size));
      return tf.add(it, tf.mul(tf.tensor(noise, it.shape), 0.05));
    }),
  };
  const batches = COMPARED.map(() => drawSteps(setup, random));
  const learnersOf = (rows: number) =>
    compileUpdates(model, { state, rows, actions });
  if (folder !== undefined) {
    await Deno.mkdir(folder, { recursive: true });
    const arrays = record(learnersOf(LEAST_ROWS), setup, batches);
    await saveNpz(arrays, `${folder}/${name}.npz`);
  }
  const { all } = learnersOf(LEAST_ROWS);
  const given = inputsOf(batches[0], LEAST_ROWS);
  const own = learnersOf(sequenceRows(STEPS));
  const segments = inputsOf(batches[0], sequenceRows(STEPS));
  const round = () => {
    for (let i = 1; i < ROUND; i++) own.quiet.run(segments);
    own.all.run(segments);
  };
  const measured = { ...REPEATS[name], now: processorMs };
  return {
    [`${name}_ms`]: medianMs(() => all.run(given), measured),
    [`${name}_round_ms`]: medianMs(round, measured) / ROUND,
  };
}

await selectBackend("cpu");
const figures: Record<string, number> = {};
for (const name of Object.keys(SETUPS)) {
  Object.assign(figures, await measure(name as keyof typeof SETUPS, folder));
}
console.log(JSON.stringify(figures));
