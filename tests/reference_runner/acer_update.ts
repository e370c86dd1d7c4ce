import {
  type AcerBatch,
  acerGradients,
  acerUpdate,
  initAcerState,
} from "@bellman/acer";
import {
  compile,
  compileStep,
  type Engine,
  rmspropTf1,
  type TensorData,
} from "@bellman/compute";
import { type QActorCritic, qActorCritic } from "@bellman/policies";
import { schedule, type ScheduleName, Scheduler } from "@bellman/schedulers";
import * as tf from "@tensorflow/tfjs";
import { rowsOf } from "./acer_loss.ts";
import {
  type Arch,
  type Arrays,
  modelOptions,
  paramsOf,
  pathOf,
} from "./baselines_model.ts";
import {
  type Comparison,
  type Expected,
  type FixtureRunner,
  ofUpdates,
} from "./comparison.ts";

interface Batch {
  obs: number[][];
  actions: number[];
  rewards: number[];
  dones: number[];
  mus: number[][];
  masks?: number[];
  steps: number;
  lr: number;
}

interface Case {
  name: string;
  inputs: {
    arch: Arch;
    hparams: {
      nenvs: number;
      gamma: number;
      c: number;
      delta: number;
      ent_coef: number;
      q_coef: number;
      max_grad_norm: number | null;
      rprop_alpha: number;
      rprop_epsilon: number;
      ema_alpha: number;
      lr: number;
      lrschedule: ScheduleName;
      total_timesteps: number;
      trust_region: boolean;
    };
    params: Arrays;
    polyak: Arrays;
    batches: Batch[];
  };
  expected: {
    after: {
      stats: Record<string, Expected>;
      grads_before_clip: Arrays;
      params: Arrays;
      polyak: Arrays;
      rms: Arrays;
    }[];
    after_if_ema_runs_before_step: { polyak: Arrays; params?: Arrays }[];
  };
}

function batchOf(
  batch: Batch,
  { nenvs, stateSize }: { nenvs: number; stateSize: number },
): AcerBatch {
  return {
    ...rowsOf(batch, nenvs),
    observations: tf.tensor2d(batch.obs),
    ...(batch.masks && {
      masks: tf.tensor1d(batch.masks, "float32"),
      state: tf.zeros<tf.Rank.R2>([nenvs, stateSize]),
    }),
  };
}

/** The update of a case with the average in one order, and its gradients. */
function compileCase(
  { inputs }: Case,
  { model, engine, averageOrder }: {
    model: QActorCritic;
    engine: Engine;
    averageOrder: "after_step" | "before_step";
  },
) {
  const { hparams, batches } = inputs;
  const optimizer = rmspropTf1({
    decay: hparams.rprop_alpha,
    epsilon: hparams.rprop_epsilon,
  });
  const options = {
    numEnvs: hparams.nenvs,
    gamma: hparams.gamma,
    importanceClip: hparams.c,
    qCoefficient: hparams.q_coef,
    entropyCoefficient: hparams.ent_coef,
    trustRegion: hparams.trust_region,
    delta: hparams.delta,
  };
  const update = acerUpdate(model, {
    ...options,
    optimizer,
    maxGradNorm: hparams.max_grad_norm,
    averageDecay: hparams.ema_alpha,
    averageOrder,
  });
  const { stateSize } = model;
  const read = (batch: Batch) => batchOf(batch, { ...hparams, stateSize });
  const state = {
    ...initAcerState(paramsOf(inputs.params), optimizer),
    average: paramsOf(inputs.polyak),
  };
  const given = { batch: read(batches[0]), learningRate: tf.scalar(0) };
  const gradients = compile(
    (it) => {
      const { state: held, batch } = it as unknown as {
        state: typeof state;
        batch: AcerBatch;
      };
      return acerGradients(model, held, batch, options).gradients;
    },
    {
      inputs: { state, batch: given.batch } as never,
      engine,
      name: "the gradients",
    },
  );
  const learner = compileStep(
    ((held: typeof state, { batch, learningRate }: typeof given) =>
      update(held, batch, { learningRate })) as never,
    { state, inputs: given as never, engine, name: "the update" },
  );
  return { read, gradients, learner };
}

async function runCase(
  it: Case,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { hparams, batches, arch } = it.inputs;
  const model = qActorCritic(modelOptions(arch));
  const rate = new Scheduler({
    value: hparams.lr,
    numValues: hparams.total_timesteps,
    schedule: schedule(hparams.lrschedule),
  });
  const compare = (what: string, actual: unknown, expected: Arrays) =>
    comparison.arrays(what, actual as never, expected, (it) => pathOf(it));
  for (const averageOrder of ["after_step", "before_step"] as const) {
    const { read, gradients, learner } = compileCase(it, {
      model,
      engine,
      averageOrder,
    });
    const isAfter = averageOrder === "after_step";
    for (const [k, numbers] of batches.entries()) {
      const name = `${it.name}, average ${averageOrder}, update ${k}`;
      await comparison.check(name, () => {
        const learningRate = rate.valueAt(numbers.steps);
        comparison.numbers("lr", learningRate, numbers.lr, { tolerance: 1e-9 });
        const batch = read(numbers);
        const expected = it.expected.after[k];
        if (isAfter) {
          const { state } = learner;
          const actual = gradients.run({ state, batch } as never);
          compare("gradient of", actual, expected.grads_before_clip);
        }
        const run = learner.run({ batch, learningRate } as never);
        const { stats } = run as unknown as {
          stats: Record<string, TensorData>;
        };
        const { n_adj_active: _, ...named } = expected.stats;
        const wanted = ofUpdates(named);
        if (isAfter) {
          comparison.that(
            "statistics of the same names",
            String(Object.keys(stats).sort()) ===
              String(Object.keys(wanted).sort()),
          );
          comparison.named(stats, wanted);
        }
        const after = learner.read() as unknown as Record<
          "policy" | "average" | "slots",
          Record<string, { data: TensorData }>
        >;
        const { polyak, params } = isAfter
          ? expected
          : it.expected.after_if_ema_runs_before_step[k];
        compare("value of", after.policy, params ?? {});
        compare("average of", after.average, polyak);
        if (!isAfter) return;
        const square = (name: string) => `rms/${pathOf(name)}`;
        comparison.arrays("mean square of", after.slots, expected.rms, square);
      });
    }
    learner.close();
  }
}

/** baselines/acer: gradients, statistics, clipping, RMSProp and the average. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  for (const it of fixture.cases as Case[]) {
    await runCase(it, comparison, engine);
  }
};
