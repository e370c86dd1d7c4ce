import {
  acerLoss,
  type AcerLossOptions,
  type AcerOutputs,
  type AcerRows,
  divergenceGradient,
  trustRegion,
} from "@bellman/acer";
import {
  type ArraysOf,
  compile,
  type Engine,
  globalNorm,
  valueAndGradients,
} from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import {
  checkEach,
  type Comparison,
  type Expected,
  ofUpdates,
} from "./comparison.ts";

interface Case {
  name: string;
  inputs: {
    nenvs: number;
    nsteps: number;
    gamma: number;
    c: number;
    delta: number;
    ent_coef: number;
    q_coef: number;
    logits: number[][];
    logits_pol: number[][];
    q: number[][];
    mu: number[][];
    actions: number[];
    rewards: number[];
    dones: number[];
  };
  expected: Record<string, Expected> & {
    trust_region: Record<string, Expected>;
    no_trust_region: Record<string, Expected>;
  };
}

/** Numbers of the steps with a row of `end` after the last step of each environment. */
function withEnds<T>(steps: readonly T[], numEnvs: number, end: T): T[] {
  const numSteps = steps.length / numEnvs;
  return Array.from(
    { length: numEnvs },
    (_, env) => [...steps.slice(env * numSteps, (env + 1) * numSteps), end],
  ).flat();
}

/** Numbers of steps as rows with that of the observation after the last step. */
export function rowsOf(
  { actions, rewards, dones, mus }:
    & Record<
      "actions" | "rewards" | "dones",
      number[]
    >
    & { mus: number[][] },
  numEnvs: number,
): AcerRows {
  const numbers = (steps: number[]) => tf.tensor1d(withEnds(steps, numEnvs, 0));
  return {
    actions: tf.cast(numbers(actions), "int32"),
    rewards: numbers(rewards),
    terminated: numbers(dones),
    taken: numbers(actions.map(() => 1)),
    mu: tf.tensor2d(withEnds(mus, numEnvs, mus[0].map(() => 0))),
  };
}

/** Losses, the projection and all gradients of logits and Q-values. */
function forwardPass(
  { logits, logitsAverage, q, rows }: {
    logits: tf.Tensor2D;
    logitsAverage: tf.Tensor2D;
    q: tf.Tensor2D;
    rows: AcerRows;
  },
  { delta, ...options }: AcerLossOptions & { delta: number },
) {
  const outputs: AcerOutputs = { f: tf.softmax(logits), q };
  const fAverage = tf.softmax(logitsAverage);
  const k = divergenceGradient(outputs.f, fAverage);
  const { losses, targets, gradient } = acerLoss(outputs, rows, options);
  const { taken } = rows;
  const projected = trustRegion(gradient, k, { delta, taken });
  const count = tf.sum(taken);
  const throughSoftmax = (towards: tf.Tensor2D) =>
    valueAndGradients(({ logits }) => ({
      loss: tf.neg(
        tf.div(tf.sum(tf.mul(tf.softmax(logits), towards)), count),
      ) as tf.Scalar,
    }), { logits }).gradients.logits;
  const { gradients: { q: gradQ } } = valueAndGradients(({ q }) => {
    const n = q.shape[1]!;
    const chosen = tf.cast(
      tf.equal(tf.expandDims(rows.actions, 1), tf.range(0, n, 1, "int32")),
      "float32",
    );
    const errors = tf.sub(tf.sum(tf.mul(q, chosen), 1), targets);
    const mean = tf.div(tf.sum(tf.mul(tf.square(errors), taken)), count);
    return { loss: tf.mul(mean, 0.5 * options.qCoefficient!) as tf.Scalar };
  }, { q });
  const gradLogits = throughSoftmax(projected.gradient);
  const plain = throughSoftmax(gradient);
  return {
    losses,
    projection: projected.statistics,
    steps: { qret: targets },
    actions: {
      f: outputs.f,
      f_pol: fAverage,
      k,
      g: gradient,
      g_adjusted: projected.gradient,
    },
    inside: {
      grad_logits: gradLogits,
      grad_q: gradQ,
      q_grad_norm: globalNorm({ gradQ }),
      policy_grad_norm: globalNorm({ gradLogits }),
      grad_norm: globalNorm({ gradLogits, gradQ }),
    },
    outside: {
      grad_logits: plain,
      grad_q: gradQ,
      grad_norm: globalNorm({ plain, gradQ }),
    },
  };
}

/** Leaves out the row after the last step of each environment. */
function stepsOf(
  numbers: ArrayLike<number>,
  { nsteps, nenvs }: Case["inputs"],
): number[] {
  const size = numbers.length / nenvs;
  const kept = size * nsteps / (nsteps + 1);
  return Array.from(numbers).filter((_, i) => i % size < kept);
}

function runCase(
  { inputs, expected }: Case,
  comparison: Comparison,
  engine: Engine,
): void {
  const rows = rowsOf({ ...inputs, mus: inputs.mu }, inputs.nenvs);
  const given = {
    logits: tf.tensor2d(inputs.logits),
    logitsAverage: tf.tensor2d(inputs.logits_pol),
    q: tf.tensor2d(inputs.q),
    rows: rows as Record<keyof AcerRows, tf.Tensor>,
  };
  const compiled = compile(
    (given: unknown) =>
      forwardPass(given as Parameters<typeof forwardPass>[0], {
        numEnvs: inputs.nenvs,
        gamma: inputs.gamma,
        importanceClip: inputs.c,
        qCoefficient: inputs.q_coef,
        entropyCoefficient: inputs.ent_coef,
        delta: inputs.delta,
      }) as never,
    { inputs: given as never, engine, name: "the losses" },
  );
  const found = compiled.run(given as never) as ArraysOf<
    ReturnType<typeof forwardPass>
  >;
  const compare = (
    numbers: Readonly<Record<string, unknown>>,
    wanted: Record<string, Expected>,
    read = (it: ArrayLike<number>): ArrayLike<number> => it,
  ) => {
    for (const [name, values] of Object.entries(numbers)) {
      comparison.numbers(name, read(values as ArrayLike<number>), wanted[name]);
    }
  };
  const steps = (it: ArrayLike<number>) => stepsOf(it, inputs);
  const { trust_region, no_trust_region } = expected;
  compare(found.losses, ofUpdates(expected as Record<string, Expected>));
  compare(found.projection, ofUpdates(trust_region));
  compare(found.steps, expected, steps);
  compare(found.actions, { ...expected, ...trust_region }, steps);
  compare(found.inside, ofUpdates(trust_region));
  compare(found.outside, ofUpdates(no_trust_region));
}

/** Losses, trust region and gradients of baselines/acer. */
export const runner = checkEach({ cases: runCase });
