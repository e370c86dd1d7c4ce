import { valueAndGradients } from "@bellman/compute";
import { retrace } from "@bellman/returns";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import {
  acerLoss,
  type AcerLossOptions,
  type AcerRows,
  divergenceGradient,
  oneHot,
  retraceTargets,
  trustRegion,
} from "./losses.ts";

await tf.setBackend("cpu");

const ROWS = 5;
const ACTIONS = 3;

/** Five rows, the last without an action, with numbers from sines. */
function setup(seed = 1) {
  const numbers = (offset: number, scale = 1) =>
    tf.tensor2d(
      Array.from(
        { length: ROWS * ACTIONS },
        (_, i) => scale * Math.sin(seed + offset + 2.7 * i),
      ),
      [ROWS, ACTIONS],
    );
  const rows: AcerRows = {
    actions: tf.tensor1d([0, 2, 1, 2, 0], "int32"),
    rewards: tf.tensor1d([1, -1, 2, 0.5, 0]),
    terminated: tf.tensor1d([0, 1, 0, 0, 0]),
    taken: tf.tensor1d([1, 1, 1, 1, 0]),
    mu: tf.softmax(numbers(3)),
  };
  const f = tf.softmax(numbers(0));
  const outputs = { f, q: numbers(2, 3) };
  const k = divergenceGradient(f, tf.softmax(numbers(1)));
  return { rows, outputs, k };
}

function gradientOf(
  options: Partial<AcerLossOptions>,
  { rows, outputs } = setup(),
): number[] {
  const { gradient } = acerLoss(outputs, rows, { numEnvs: 1, ...options });
  return [...gradient.dataSync()];
}

function assertClose(found: ArrayLike<number>, wanted: ArrayLike<number>) {
  assertEquals(found.length, wanted.length);
  for (let i = 0; i < found.length; i++) {
    assertAlmostEquals(found[i], wanted[i], 1e-4 * (1 + Math.abs(wanted[i])));
  }
}

Deno.test("targets are those of retrace, time limits and ends included", () => {
  const numEnvs = 2, numSteps = 6;
  const flags = fc.array(fc.constantFrom(0, 0, 0, 1, 2), {
    minLength: numEnvs * numSteps,
    maxLength: numEnvs * numSteps,
  });
  fc.assert(fc.property(flags, fc.nat(100), (ends, seed) => {
    const number = (i: number) => Math.sin(seed + 1.7 * i);
    const steps = (offset: number) =>
      ends.map((_, i) => number(i + 50 * offset));
    const [rewards, qValues, values, finalValues] = [1, 2, 3, 4].map(steps);
    const ratios = steps(5).map((it) => 1 + it);
    const lastValues = [number(1000), number(2000)];
    const wanted = retrace({
      rewards,
      qValues,
      values,
      ratios,
      finalValues,
      lastValues,
      terminated: ends.map((it) => +(it === 1)),
      truncated: ends.map((it) => +(it === 2)),
    }, { numEnvs, numSteps, gamma: 0.9 });
    // A row for the end of each episode that was cut, and the last ones.
    const size = 2 * numSteps + 1;
    const column = () => new Float32Array(numEnvs * size);
    const rows = {
      rewards: column(),
      terminated: column(),
      taken: column(),
      qTaken: column(),
      values: column(),
      ratios: column(),
    };
    const at: number[] = [];
    for (let env = 0; env < numEnvs; env++) {
      let row = env * size;
      for (let i = env * numSteps; i < (env + 1) * numSteps; i++) {
        rows.rewards[row] = rewards[i];
        rows.terminated[row] = +(ends[i] === 1);
        rows.taken[row] = 1;
        rows.qTaken[row] = qValues[i];
        rows.values[row] = values[i];
        rows.ratios[row] = ratios[i];
        at.push(row++);
        if (ends[i] === 2) rows.values[row++] = finalValues[i];
      }
      rows.values[row] = lastValues[env];
    }
    const found = tf.tidy(() => {
      const tensors = Object.fromEntries(
        Object.entries(rows).map(([name, it]) => [name, tf.tensor1d(it)]),
      );
      return retraceTargets(tensors as never, { numEnvs, gamma: 0.9 })
        .dataSync();
    });
    assertClose(at.map((row) => found[row]), wanted);
  }));
});

Deno.test("the closed form is the gradient of the losses", () => {
  const { rows, outputs } = setup();
  const options = { numEnvs: 1, importanceClip: 1, entropyCoefficient: 0.3 };
  const { targets, gradient } = acerLoss(outputs, rows, options);
  const { f, q } = outputs;
  const value = tf.sum(tf.mul(f, q), 1, true);
  const rho = tf.div(f, tf.add(rows.mu, 1e-6));
  const chosen = oneHot(rows.actions, ACTIONS);
  const taken = tf.expandDims(rows.taken, 1);
  // Written out from the paper, with numbers for what no gradient flows through.
  const ofTaken = tf.mul(
    tf.sub(tf.expandDims(targets, 1), value),
    tf.minimum(1, rho),
  );
  const ofAll = tf.mul(
    tf.mul(tf.sub(q, value), tf.relu(tf.sub(1, tf.div(1, rho)))),
    f,
  );
  const factors = tf.add(tf.mul(chosen, ofTaken), ofAll);
  const { gradients } = valueAndGradients(({ f }) => {
    const logF = tf.log(tf.add(f, 1e-6));
    const gain = tf.mul(logF, tf.sub(factors, tf.mul(f, 0.3)));
    return { loss: tf.sum(tf.mul(gain, taken)) as tf.Scalar };
  }, { f });
  assertClose(gradient.dataSync(), gradients.f.dataSync());
});

Deno.test("on-policy without limits it is the Retrace policy gradient", () => {
  const { rows, outputs, k } = setup();
  const { f, q } = outputs;
  const onPolicy = { ...rows, mu: f };
  const options = { numEnvs: 1, importanceClip: 1e30, entropyCoefficient: 0 };
  const { gradient } = acerLoss(outputs, onPolicy, options);
  const { gradient: projected } = trustRegion(gradient, k, {
    delta: 1e30,
    taken: rows.taken,
  });
  const [probabilities, values, actions, taken] = [
    f.arraySync(),
    q.arraySync(),
    rows.actions.arraySync(),
    rows.taken.arraySync(),
  ];
  const v = probabilities.map((row, t) =>
    row.reduce((sum, p, a) => sum + p * values[t][a], 0)
  );
  const targets = retrace({
    rewards: rows.rewards.arraySync().slice(0, 4),
    terminated: rows.terminated.arraySync().slice(0, 4),
    truncated: [0, 0, 0, 0],
    values: v.slice(0, 4),
    qValues: actions.slice(0, 4).map((a, t) => values[t][a]),
    ratios: [1, 1, 1, 1],
    lastValues: [v[4]],
  }, { numEnvs: 1, numSteps: 4 });
  // grad f of log f(a) (Qret - V): (Qret - V) / f(a) for the taken action.
  const wanted = probabilities.flatMap((row, t) =>
    row.map((p, a) =>
      taken[t] && a === actions[t] ? (targets[t] - v[t]) / p : 0
    )
  );
  assertClose(gradient.dataSync(), wanted);
  assertClose(projected.dataSync(), wanted);
});

Deno.test("bias correction acts only where a weight is cut", () => {
  const corrected = gradientOf({ importanceClip: 1 });
  const cut = gradientOf({ importanceClip: 1, biasCorrection: false });
  const { rows, outputs } = setup();
  const [f, mu] = [outputs.f.dataSync(), rows.mu.dataSync()];
  let above = 0;
  for (let i = 0; i < (ROWS - 1) * ACTIONS; i++) {
    const isCut = f[i] > mu[i];
    if (isCut) above++;
    assertEquals(Math.abs(corrected[i] - cut[i]) > 1e-6, isCut, `${i}`);
  }
  assert(above > 0);
  assertClose(
    gradientOf({ importanceClip: 1e6 }),
    gradientOf({ importanceClip: 1e6, biasCorrection: false }),
  );
});

Deno.test("a row without an action has no gradient and no weight", () => {
  const first = setup(), second = setup();
  const rows = { ...second.rows };
  rows.mu = tf.add(rows.mu, tf.mul(oneHot(rows.actions, 3), 0)) as tf.Tensor2D;
  rows.rewards = tf.tensor1d([1, -1, 2, 0.5, 99]);
  rows.actions = tf.tensor1d([0, 2, 1, 2, 2], "int32");
  const [a, b] = [first.rows, rows].map((it) =>
    acerLoss(first.outputs, it, { numEnvs: 1 })
  );
  assertEquals(a.gradient.dataSync(), b.gradient.dataSync());
  assertEquals([...a.gradient.dataSync()].slice(-ACTIONS), [0, 0, 0]);
  for (const name in a.losses) {
    const key = name as keyof typeof a.losses;
    assertEquals(a.losses[key].dataSync(), b.losses[key].dataSync(), name);
  }
});

Deno.test("the projected gradient is the nearest one in the trust region", () => {
  const { rows, outputs, k } = setup();
  const { gradient } = acerLoss(outputs, rows, { numEnvs: 1 });
  const delta = 0.1;
  const { taken } = rows;
  const projected = trustRegion(gradient, k, { delta, taken });
  const dots = (g: tf.Tensor) => tf.sum(tf.mul(g, k), 1).dataSync();
  const [before, after] = [dots(gradient), dots(projected.gradient)];
  let active = 0;
  for (let row = 0; row < ROWS - 1; row++) {
    if (before[row] > delta) active++;
    assertAlmostEquals(after[row], Math.min(delta, before[row]), 1e-4);
  }
  assert(active > 0 && active < ROWS - 1);
  assertClose(
    trustRegion(gradient, k, { delta: 1e30, taken }).gradient.dataSync(),
    gradient.dataSync(),
  );
});

Deno.test("losses of equal targets and of no action at all are finite", () => {
  const { rows, outputs } = setup();
  const nothing = { ...rows, taken: tf.zerosLike(rows.taken) };
  const { losses } = acerLoss(outputs, nothing, { numEnvs: 1 });
  for (const [name, it] of Object.entries(losses)) {
    assert(Number.isFinite(it.arraySync()), name);
  }
});
