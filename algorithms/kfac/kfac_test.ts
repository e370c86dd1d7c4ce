import {
  adam,
  compileStep,
  type OptimizerState,
  type Params,
  paramsFromArrays,
  paramsToArrays,
  RandomStream,
  selectBackend,
  sgd,
  valueAndGradients,
} from "@bellman/compute";
import { inverseSpd, symmetricEigen } from "@bellman/linear-algebra";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { Kfac } from "./kfac.ts";
import type { KfacOptions } from "./options.ts";
import { findLayers, type KfacObjective } from "./layers.ts";
import { gaussian, sampledLogProb } from "./predictive.ts";

await selectBackend("cpu");

const normal = (shape: number[], seed: number) =>
  tf.tensor(
    new RandomStream(seed).fillNormal(
      new Float32Array(shape.reduce((a, b) => a * b, 1)),
    ),
    shape,
  );

/** Noise whose second moment is exactly the identity. */
function balancedNoise(rows: number, columns: number): tf.Tensor2D {
  const numbers = Float32Array.from(
    { length: rows * columns },
    (_, at) =>
      Math.floor(at / columns) % columns === at % columns
        ? Math.sqrt(columns)
        : 0,
  );
  return tf.tensor2d(numbers, [rows, columns]);
}

/** Linear regression, with a normal distribution of variance 1. */
function regression(x: tf.Tensor2D, y: tf.Tensor2D) {
  const noise = balancedNoise(x.shape[0], y.shape[1]);
  return ({ w, b }: Params): KfacObjective => {
    const head = gaussian(tf.add(tf.matMul(x, w as tf.Tensor2D), b));
    return {
      loss: tf.neg(tf.mean(head.logProb(y))) as tf.Scalar,
      logLikelihood: sampledLogProb(head, noise),
    };
  };
}

const LAYERS = [{ kernel: "w", bias: "b" }];

interface Run {
  params: Params;
  state: OptimizerState;
}

/** Takes steps of an objective eagerly; inversions follow the schedule. */
function descend(
  kfac: Kfac,
  objective: (params: Params) => KfacObjective,
  {
    params,
    steps,
    rate = 1,
    state = kfac.init(params),
    from = 0,
    coldRate = 0,
  }: {
    params: Params;
    steps: number;
    rate?: number;
    coldRate?: number;
    state?: OptimizerState;
    from?: number;
  },
): Run {
  const learningRate = tf.scalar(rate), coldLearningRate = tf.scalar(coldRate);
  for (let update = from; update < from + steps; update++) {
    const { gradients, rows } = kfac.gradients(objective, params);
    ({ params, state } = kfac.apply(params, gradients, {
      state,
      learningRate,
      coldLearningRate,
      rows,
    }));
    const inverted = kfac.refresh(update, () => paramsToArrays(state));
    if (inverted) state = paramsFromArrays(inverted);
  }
  return { params, state };
}

const PLAIN: KfacOptions = {
  form: "eigenbasis",
  momentum: 0,
  trustRegion: null,
  invertEvery: 1,
};

function distance(a: tf.Tensor, b: tf.Tensor): number {
  return tf.max(tf.abs(tf.sub(a, b))).arraySync() as number;
}

Deno.test("on a linear-Gaussian problem the step is the exact natural gradient", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(0.01, 0.1, 1),
      (seed, inputs, outputs, damping) => {
        tf.tidy(() => {
          const x = normal([12 * outputs, inputs], seed) as tf.Tensor2D;
          const y = normal([12 * outputs, outputs], seed + 1) as tf.Tensor2D;
          const objective = regression(x, y);
          const params = {
            w: normal([inputs, outputs], seed + 2),
            b: tf.zeros([outputs]),
          };
          const options = { ...PLAIN, damping, dampingKind: "plain" } as const;
          const kfac = new Kfac(LAYERS, options);
          const { state } = descend(kfac, objective, {
            params,
            steps: 2,
            rate: 0,
          });
          const { gradients } = kfac.gradients(objective, params);
          const natural = kfac.naturalGradient(gradients, state);
          // The Fisher matrix of a linear model is E[a a'] for each output.
          const a = tf.concat([x, tf.ones([x.shape[0], 1])], 1);
          const moments = tf.div(tf.matMul(a, a, true), x.shape[0]);
          const fisher = tf.add(moments, tf.mul(tf.eye(inputs + 1), damping));
          const gradient = tf.concat([
            gradients.w,
            tf.reshape(gradients.b, [1, -1]),
          ], 0);
          const inverse = inverseSpd(Float64Array.from(fisher.dataSync()));
          const wanted = tf.matMul(
            tf.tensor2d(Float32Array.from(inverse), [inputs + 1, inputs + 1]),
            gradient as tf.Tensor2D,
          ).dataSync();
          const made = [...natural.w.dataSync(), ...natural.b.dataSync()];
          made.forEach((it, i) =>
            assertAlmostEquals(
              it,
              wanted[i],
              2e-4 * Math.max(1, Math.abs(wanted[i])),
            )
          );
        });
      },
    ),
    { seed: 1, numRuns: 30 },
  );
});

/** A regression whose inputs have deviations from 1 to 0.01, turned. */
function illConditioned() {
  const size = 8;
  const scales = tf.tensor1d(
    Array.from({ length: size }, (_, i) => 100 ** (-i / (size - 1))),
  );
  const x = tf.tidy(() => {
    const turned = normal([size, size], 3) as tf.Tensor2D;
    return tf.matMul(
      tf.mul(normal([64, size], 4), scales),
      turned,
    ) as tf.Tensor2D;
  });
  const w = normal([size, 1], 5) as tf.Tensor2D;
  const y = tf.add(tf.matMul(x, w), 0.5) as tf.Tensor2D;
  return {
    objective: regression(x, y),
    params: { w: tf.zeros([size, 1]), b: tf.zeros([1]) } as Params,
  };
}

Deno.test("an ill-conditioned quadratic takes at most a tenth of Adam's steps", () => {
  const { objective, params } = illConditioned();
  const least = 0.5 * Math.log(2 * Math.PI);
  const excess = ([loss]: ArrayLike<number> & Iterable<number>) => loss - least;
  const stepsOf = (run: (update: number) => number, most: number) => {
    for (let update = 0; update < most; update++) {
      if (run(update) < 1e-4) return update;
    }
    return most;
  };
  const kfac = new Kfac(LAYERS, { ...PLAIN, damping: 1e-6 });
  const natural = compileStep(({ params, slots }, { rate }) => {
    const { loss, gradients, rows } = kfac.gradients(objective, params);
    const step = kfac.apply(params, gradients, {
      state: slots,
      learningRate: rate,
      rows,
    });
    return { state: { params: step.params, slots: step.state }, loss };
  }, {
    state: { params, slots: kfac.init(params) },
    inputs: { rate: tf.scalar(0) },
  });
  const ours = stepsOf((update) => {
    const { loss } = natural.run({ rate: update === 0 ? 0.01 : 1 });
    const slots = kfac.refresh(update, () => natural.read().slots);
    if (slots) natural.write({ params: natural.read().params, slots });
    return excess(loss);
  }, 1000);
  const theirs = [0.3, 0.1, 0.03, 0.01, 0.003].map((rate) => {
    const optimizer = adam();
    const learner = compileStep(({ params, slots }, { rate }) => {
      const { loss, gradients } = kfac.gradients(objective, params);
      const step = optimizer.apply(params, gradients, {
        state: slots,
        learningRate: rate,
      });
      return { state: { params: step.params, slots: step.state }, loss };
    }, {
      state: { params, slots: optimizer.init(params) },
      inputs: { rate: tf.scalar(0) },
    });
    return stepsOf(() => excess(learner.run({ rate }).loss), 20_000);
  });
  const best = Math.min(...theirs);
  assert(ours * 10 <= best, `${ours} steps, Adam ${theirs}`);
});

/** An autoencoder of 8 layers, and points of a surface of 3 dimensions. */
function autoencoder() {
  const sizes = [20, 16, 12, 8, 3, 8, 12, 16, 20], rows = 256;
  const product = (a: tf.Tensor, b: tf.Tensor) =>
    tf.matMul(a as tf.Tensor2D, b as tf.Tensor2D);
  const surface = tf.tanh(product(normal([rows, 3], 1), normal([3, 20], 2)));
  const x = tf.tanh(product(surface, tf.mul(normal([20, 20], 3), 0.5)));
  const params: Params = {};
  for (let i = 0; i < 8; i++) {
    const w = normal([sizes[i], sizes[i + 1]], 4 + i);
    params[`w${i}`] = tf.div(w, Math.sqrt(sizes[i]));
    params[`b${i}`] = tf.zeros([sizes[i + 1]]);
  }
  const network = (params: Params) => {
    let h = x;
    for (let i = 0; i < 8; i++) {
      h = tf.add(product(h, params[`w${i}`]), params[`b${i}`]);
      if (i !== 3 && i !== 7) h = tf.tanh(h);
    }
    return h;
  };
  const objective = (params: Params, noise: tf.Tensor2D): KfacObjective => {
    const made = network(params);
    // Half of the squared error, summed over the 20 numbers.
    const loss = tf.mul(tf.mean(tf.squaredDifference(made, x)), 10);
    const logLikelihood = sampledLogProb(gaussian(made), noise);
    return { loss: loss as tf.Scalar, logLikelihood };
  };
  const layers = findLayers(network, { params, inputs: {} });
  return { objective, params, layers };
}

Deno.test("a deep autoencoder takes at most a third of Adam's steps at its best rate", () => {
  const { objective, params, layers } = autoencoder();
  assertEquals(layers.length, 8);
  const rate = tf.scalar(0), none = tf.zeros<tf.Rank.R2>([256, 20]);
  const theirs = [0.1, 0.03, 0.01, 0.003].map((value) => {
    const optimizer = adam();
    const learner = compileStep(({ params, slots }, { rate }) => {
      const { loss, gradients } = valueAndGradients(
        (params) => ({ loss: objective(params, none).loss }),
        params,
      );
      const step = optimizer.apply(params, gradients, {
        state: slots,
        learningRate: rate,
      });
      return { state: { params: step.params, slots: step.state }, loss };
    }, { state: { params, slots: optimizer.init(params) }, inputs: { rate } });
    let loss = 0;
    for (let i = 0; i < 2400; i++) [loss] = learner.run({ rate: value }).loss;
    return loss;
  });
  const kfac = new Kfac(layers, {
    form: "ekfac",
    damping: 1e-3,
    momentumKind: "adam",
    invertEvery: 5,
    trustRegion: { kind: "kl", limit: 0.01 },
  });
  const learner = compileStep(
    ({ params, slots }, { noise, rate, coldRate }) => {
      const { loss, gradients, rows } = kfac.gradients(
        (params) => objective(params, noise as tf.Tensor2D),
        params,
      );
      const step = kfac.apply(params, gradients, {
        state: slots,
        learningRate: rate,
        coldLearningRate: coldRate,
        rows,
      });
      return { state: { params: step.params, slots: step.state }, loss };
    },
    {
      state: { params, slots: kfac.init(params) },
      inputs: { noise: none, rate, coldRate: rate },
    },
  );
  const random = new RandomStream(1), noise = new Float32Array(none.size);
  let loss = Infinity, steps = 0;
  while (loss > Math.min(...theirs) && steps < 2400) {
    random.fillNormal(noise);
    [loss] = learner.run({ noise, rate: 0.1, coldRate: 0.01 }).loss;
    const slots = kfac.refresh(steps++, () => learner.read().slots);
    if (slots) learner.write({ params: learner.read().params, slots });
  }
  assert(steps <= 800, `${steps} steps to Adam's loss after 2400, ${theirs}`);
});

Deno.test("with a small damping, momentum of gradients is stable where that of steps is not", () => {
  const { objective, params, layers } = autoencoder();
  const none = tf.zeros<tf.Rank.R2>([256, 20]), rate = tf.scalar(0);
  const worstOf = (momentumKind: "adam" | "regular") => {
    const kfac = new Kfac(layers, {
      form: "ekfac",
      damping: 1e-3,
      momentumKind,
      invertEvery: 5,
      trustRegion: { kind: "kl", limit: 0.01 },
    });
    const learner = compileStep(
      ({ params, slots }, { noise, rate, coldRate }) => {
        const { loss, gradients, rows } = kfac.gradients(
          (params) => objective(params, noise as tf.Tensor2D),
          params,
        );
        const step = kfac.apply(params, gradients, {
          state: slots,
          learningRate: rate,
          coldLearningRate: coldRate,
          rows,
        });
        return { state: { params: step.params, slots: step.state }, loss };
      },
      {
        state: { params, slots: kfac.init(params) },
        inputs: { noise: none, rate, coldRate: rate },
      },
    );
    const random = new RandomStream(1), noise = new Float32Array(none.size);
    let worst = 0;
    for (let update = 0; update < 160; update++) {
      random.fillNormal(noise);
      const { loss } = learner.run({ noise, rate: 0.1, coldRate: 0.01 });
      if (update >= 60) worst = Math.max(worst, loss[0]);
      const slots = kfac.refresh(update, () => learner.read().slots);
      if (slots) learner.write({ params: learner.read().params, slots });
    }
    return worst;
  };
  const stable = worstOf("adam"), unstable = worstOf("regular");
  assert(stable < 0.2, `${stable}`);
  assert(unstable > 1, `${unstable}`);
});

/** A network of two layers, and targets. */
function twoLayers() {
  const x = normal([16, 3], 1),
    y = normal([16, 2], 2),
    noise = normal([16, 2], 3);
  const params: Params = {
    u: normal([3, 4], 4),
    c: tf.zeros([4]),
    v: normal([4, 2], 5),
  };
  const objective = ({ u, c, v }: Params): KfacObjective => {
    const hidden = tf.tanh(
      tf.add(tf.matMul(x as tf.Tensor2D, u as tf.Tensor2D), c),
    );
    const head = gaussian(tf.matMul(hidden as tf.Tensor2D, v as tf.Tensor2D));
    return {
      loss: tf.neg(tf.mean(head.logProb(y))) as tf.Scalar,
      logLikelihood: sampledLogProb(head, noise as tf.Tensor2D),
    };
  };
  return {
    objective,
    params,
    layers: [{ kernel: "u", bias: "c" }, { kernel: "v" }],
  };
}

Deno.test("inverses and eigenvectors make the same step, and so do moments at first", () => {
  const { objective, params, layers } = twoLayers();
  const naturalOf = (options: KfacOptions) => {
    const kfac = new Kfac(layers, { ...PLAIN, damping: 0.1, ...options });
    const { state } = descend(kfac, objective, { params, steps: 2, rate: 0 });
    const { gradients } = kfac.gradients(objective, params);
    return kfac.naturalGradient(gradients, state);
  };
  const pairs = [
    [{ form: "inverse" }, { form: "eigenbasis" }],
    [{ form: "ekfac" }, { form: "eigenbasis", dampingKind: "plain" }],
  ] as const;
  for (const [one, other] of pairs) {
    const a = naturalOf(one), b = naturalOf(other);
    for (const path in params) assert(distance(a[path], b[path]) < 1e-4, path);
  }
});

type Arrays = ReturnType<typeof paramsToArrays>;

/** Replaces all but the leading eigenvalues of a matrix by their mean. */
function flattened(matrix: Float32Array, count: number): Float32Array {
  const size = Math.sqrt(matrix.length);
  const { values, vectors } = symmetricEigen(matrix);
  const rest = values.slice(0, size - count);
  rest.fill(rest.reduce((a, b) => a + b) / rest.length);
  values.set(rest);
  return matrix.map((_, at) => {
    const i = Math.floor(at / size), j = at % size;
    return values.reduce(
      (sum, it, k) => sum + it * vectors[i * size + k] * vectors[j * size + k],
      0,
    );
  });
}

Deno.test("a layer of many inputs has its leading eigenvectors and the mean of the rest", () => {
  const { objective, params, layers } = twoLayers();
  for (const dampingKind of ["factored", "plain"] as const) {
    const kfacOf = (largestBasis: number) =>
      new Kfac(layers, {
        ...PLAIN,
        form: "eigenbasis",
        damping: 0.1,
        dampingKind,
        largestBasis,
      });
    const whole = kfacOf(Infinity);
    const { state } = descend(whole, objective, { params, steps: 2, rate: 0 });
    const { gradients } = whole.gradients(objective, params);
    const factors = paramsToArrays(state);
    /** The natural gradient with inverses of the factors, refined often. */
    const naturalOf = (kfac: Kfac, factors: Arrays) => {
      let arrays = paramsToArrays(kfac.init(params));
      for (let update = 0; update < 200; update++) {
        const given = { ...arrays };
        for (const slot in factors) {
          if (/^(in|out)put\//.test(slot)) given[slot] = factors[slot];
        }
        arrays = kfac.refresh(update, () => given) ?? given;
      }
      return kfac.naturalGradient(gradients, paramsFromArrays(arrays));
    };
    // `u` has four rows with its bias, and `v` has four.
    const made = naturalOf(kfacOf(2), factors);
    const flat = { ...factors };
    for (const { kernel } of layers) {
      const { data, shape } = factors[`input/${kernel}`];
      flat[`input/${kernel}`] = {
        data: flattened(data as Float32Array, 2),
        shape,
      };
    }
    const wanted = naturalOf(whole, flat);
    const all = naturalOf(whole, factors);
    for (const { kernel } of layers) {
      assert(distance(made[kernel], wanted[kernel]) < 1e-3, kernel);
      assert(distance(made[kernel], all[kernel]) > 2e-3, kernel);
    }
  }
});

Deno.test("moments are measured in whole bases alone", () => {
  const { objective, params, layers } = twoLayers();
  const naturalOf = (options: KfacOptions) => {
    const kfac = new Kfac(layers, {
      ...PLAIN,
      damping: 0.1,
      invertEvery: 2,
      ...options,
    });
    const { state } = descend(kfac, objective, { params, steps: 4, rate: 0.1 });
    const { gradients } = kfac.gradients(objective, params);
    return kfac.naturalGradient(gradients, state).u;
  };
  const plain = { form: "eigenbasis", dampingKind: "plain" } as const;
  for (const [largestBasis, isSame] of [[2, true], [4, false]] as const) {
    const ekfac = naturalOf({ form: "ekfac", largestBasis });
    const eigenbasis = naturalOf({ ...plain, largestBasis });
    assertEquals(distance(ekfac, eigenbasis) === 0, isSame);
  }
});

Deno.test("moments are measured, and lower the loss as factors do", () => {
  for (const form of ["ekfac", "eigenbasis", "inverse"] as const) {
    const { objective, params, layers } = twoLayers();
    const kfac = new Kfac(layers, {
      form,
      damping: 0.1,
      momentum: 0,
      invertEvery: 3,
      trustRegion: null,
    });
    const { params: after } = descend(kfac, objective, {
      params,
      steps: 40,
      rate: 0.3,
    });
    const before = objective(params).loss.dataSync()[0];
    const loss = objective(after).loss.dataSync()[0];
    assert(loss < before - 1.5, `${form}: from ${before} to ${loss}`);
  }
});

Deno.test("the trust region bounds the KL divergence of a step", () => {
  const { objective, params, layers } = twoLayers();
  for (const kind of ["kl", "norm_constraint"] as const) {
    const kfac = new Kfac(layers, {
      ...PLAIN,
      trustRegion: { kind, limit: 0.01 },
    });
    const { state } = descend(kfac, objective, { params, steps: 2, rate: 0 });
    const { gradients, rows } = kfac.gradients(objective, params);
    for (const rate of [1e-4, 10]) {
      const learningRate = tf.scalar(rate);
      const { coefficient, quadratic } = kfac.apply(params, gradients, {
        state,
        learningRate,
        rows,
      });
      const [c] = coefficient.dataSync(), [q] = quadratic.dataSync();
      const bound = kind === "kl" ? 0.02 : 0.01;
      if (rate < 1) assertEquals(c, 1);
      else assertAlmostEquals(rate ** 2 * c ** 2 * q, bound, 1e-5);
    }
  }
});

Deno.test("updates are cold until there are inverses, by the cold optimizer alone", () => {
  const { objective, params, layers } = twoLayers();
  const kfac = new Kfac(layers, {
    coldUpdates: 2,
    invertEvery: 2,
    coldOptimizer: sgd({ momentum: 0.9 }),
  });
  const run = descend(kfac, objective, {
    params,
    steps: 4,
    rate: 5,
    coldRate: 0.01,
  });
  const optimizer = sgd({ momentum: 0.9 });
  let expected: Params = params, state = optimizer.init(params);
  for (let i = 0; i < 4; i++) {
    const { gradients } = kfac.gradients(objective, expected);
    ({ params: expected, state } = optimizer.apply(expected, gradients, {
      state,
      learningRate: tf.scalar(0.01),
    }));
  }
  for (const path in params) {
    assert(distance(run.params[path], expected[path]) < 1e-6);
  }
  assertEquals(run.state["velocity/u"].dataSync()[0], 0);
  const waiting = new Kfac(layers, { untilInverse: "wait", invertEvery: 3 });
  const still = descend(waiting, objective, { params, steps: 3, rate: 5 });
  assertEquals(distance(still.params.u, params.u), 0);
});

Deno.test("a step with numbers that are not finite is skipped and named", () => {
  const { objective, params, layers } = twoLayers();
  const kfac = new Kfac(layers);
  const { gradients, rows } = kfac.gradients(objective, params);
  const state = kfac.init(params), learningRate = tf.scalar(0.1);
  const spoilt = {
    ...rows,
    v: { ...rows.v, gradients: tf.mul(rows.v.gradients, NaN) as tf.Tensor2D },
  };
  const step = kfac.apply(params, gradients, {
    state,
    learningRate,
    rows: spoilt,
  });
  const names = Object.keys(state).filter((it) => it !== "step");
  for (const name of names) {
    assertEquals(distance(step.state[name], state[name]), 0, name);
  }
  for (const path in params) {
    assertEquals(distance(step.params[path], params[path]), 0);
  }
  const line =
    "Skipped a step of K-FAC: the output factor of layer 'v' is not finite";
  assertEquals(kfac.nonFinite(step.finite.dataSync()), line);
  const u = tf.mul(gradients.u, Infinity);
  const other = kfac.apply(params, { ...gradients, u }, {
    state,
    learningRate,
    rows,
  });
  assertEquals(
    kfac.nonFinite(other.finite.dataSync()),
    "Skipped a step of K-FAC: the gradient is not finite",
  );
  const fine = kfac.apply(params, gradients, { state, learningRate, rows });
  assertEquals(kfac.nonFinite(fine.finite.dataSync()), undefined);
});

Deno.test("a natural gradient that is not finite moves nothing", () => {
  const { objective, params, layers } = twoLayers();
  const kfac = new Kfac(layers, { momentum: 0.5 });
  const { gradients, rows } = kfac.gradients(objective, params);
  const huge = tf.fill([4, 4], 3e38);
  const state: OptimizerState = {
    ...kfac.init(params),
    step: tf.scalar(100),
    "inverse_input/u": huge,
    "inverse_output/u": huge,
  };
  const learningRate = tf.scalar(1);
  const step = kfac.apply(params, gradients, { state, learningRate, rows });
  assertEquals(
    kfac.nonFinite(step.finite.dataSync()),
    "Skipped a step of K-FAC: the natural gradient is not finite",
  );
  assertEquals(distance(step.params.u, params.u), 0);
  assertEquals(distance(step.state["velocity/u"], state["velocity/u"]), 0);
});

Deno.test("a layer whose factor cannot be inverted keeps its inverse, with one warning", () => {
  const { params, layers } = twoLayers();
  const warnings: string[] = [];
  const kfac = new Kfac(layers, {
    ...PLAIN,
    onWarning: (line) => warnings.push(line),
  });
  const arrays = paramsToArrays(kfac.init(params));
  arrays["output/v"].data[0] = NaN;
  for (let update = 1; update < 3; update++) {
    const after = kfac.refresh(update, () => arrays)!;
    assertEquals(after["basis_input/v"], arrays["basis_input/v"]);
  }
  assertEquals(warnings.length, 1);
  assert(
    warnings[0].startsWith(
      "Layer 'v' keeps its old inverse: Cannot find the eigenvalues",
    ),
    warnings[0],
  );
});

Deno.test("compiled steps are the eager ones, go on exactly from a saved state, and leak nothing", () => {
  for (const form of ["eigenbasis", "ekfac", "inverse"] as const) {
    const { objective, params, layers } = twoLayers();
    const options: KfacOptions = {
      form,
      damping: 0.1,
      coldUpdates: 1,
      invertEvery: 2,
      covUpdateEvery: 2,
    };
    const kfac = new Kfac(layers, options);
    const learnerOf = () =>
      compileStep(({ params, slots }, { learningRate }) => {
        const { loss, gradients, rows } = kfac.gradients(objective, params);
        const step = kfac.apply(params, gradients, {
          state: slots,
          learningRate,
          rows,
        });
        return {
          state: { params: step.params, slots: step.state },
          loss,
          finite: step.finite,
        };
      }, {
        state: { params, slots: kfac.init(params) },
        inputs: { learningRate: tf.scalar(0) },
        engine: "onnx",
      });
    const run = (
      learner: ReturnType<typeof learnerOf>,
      from: number,
      to: number,
    ) => {
      for (let update = from; update < to; update++) {
        learner.run({ learningRate: 0.1 });
        const slots = kfac.refresh(update, () => learner.read().slots);
        if (slots) learner.write({ params: learner.read().params, slots });
      }
      return learner.read();
    };
    const whole = run(learnerOf(), 0, 9);
    const first = run(learnerOf(), 0, 6), second = learnerOf();
    second.write(first);
    assertEquals(run(second, 6, 9), whole);
    const eager = descend(kfac, objective, {
      params,
      steps: 9,
      rate: 0.1,
      coldRate: 0.1,
    });
    for (const path in params) {
      const made = tf.tensor(
        whole.params[path].data as Float32Array,
        whole.params[path].shape,
      );
      assert(distance(made, eager.params[path]) < 1e-3, `${form} ${path}`);
    }
    const { gradients, rows } = kfac.gradients(objective, params);
    const state = kfac.init(params), before = tf.memory().numTensors;
    const step = kfac.apply(params, gradients, {
      state,
      learningRate: tf.scalar(0.1),
      rows,
    });
    const made = Object.keys(step.params).length +
      Object.keys(step.state).length;
    assertEquals(tf.memory().numTensors, before + made + 4);
  }
});

Deno.test("where no statistics are due, a step without them is the same", () => {
  for (const momentumKind of ["regular", "averaged", "adam"] as const) {
    for (const untilInverse of ["cold", "wait"] as const) {
      const { objective, params, layers } = twoLayers();
      const kfac = new Kfac(layers, {
        coldUpdates: 1,
        invertEvery: 2,
        covUpdateEvery: 3,
        momentumKind,
        untilInverse,
      });
      const start = descend(kfac, objective, { params, steps: 6, rate: 0.1 });
      const needs = Array.from({ length: 8 }, (_, i) => kfac.needsRows(i));
      assertEquals(needs, [true, true, true, true, true, false, false, true]);
      const { gradients, rows } = kfac.gradients(objective, start.params);
      const options = { state: start.state, learningRate: tf.scalar(0.1) };
      const full = kfac.apply(start.params, gradients, { ...options, rows });
      const light = kfac.apply(start.params, gradients, options);
      for (const path in full.params) {
        assertEquals(distance(light.params[path], full.params[path]), 0);
      }
      for (const path in full.state) {
        assertEquals(distance(light.state[path], full.state[path]), 0, path);
      }
      assertEquals(kfac.nonFinite(light.finite.dataSync()), undefined);
      const spoilt = { ...gradients, u: tf.mul(gradients.u, NaN) };
      const skipped = kfac.apply(start.params, spoilt, options);
      assertEquals(distance(skipped.params.v, start.params.v), 0);
      assertEquals(
        kfac.nonFinite(skipped.finite.dataSync()),
        "Skipped a step of K-FAC: the gradient is not finite",
      );
    }
  }
});

Deno.test("parameters in no layer take their plain gradient where that is asked for", () => {
  const params = { w: tf.ones([2, 1]), gain: tf.ones([1]) };
  const kfac = new Kfac([{ kernel: "w" }], { others: "gradient" });
  const natural = kfac.naturalGradient(params, kfac.init(params));
  assertEquals(natural.gain.dataSync()[0], 1);
  assertEquals(natural.w.dataSync()[0], 0);
});

Deno.test("parameters of known Fisher information take the natural step, damped and bounded", () => {
  const params = { w: tf.ones([2, 1]), logStd: tf.tensor1d([1, -3]) };
  const kfac = new Kfac([{ kernel: "w" }], {
    diagonal: { logStd: 2 },
    damping: 0.5,
    momentum: 0,
    untilInverse: "wait",
    trustRegion: { kind: "norm_constraint", limit: 1 },
  });
  const state = kfac.init(params);
  const natural = kfac.naturalGradient(params, state).logStd.dataSync();
  assertAlmostEquals(natural[0], 1 / 2.5, 1e-6);
  assertAlmostEquals(natural[1], -3 / 2.5, 1e-6);
  const { quadratic, coefficient } = kfac.apply(params, params, {
    state,
    learningRate: tf.scalar(1),
    rows: {
      w: {
        inputs: tf.ones([1, 2]),
        gradients: tf.ones([1, 1]),
        positions: 1,
        examples: 1,
      },
    },
  });
  assertAlmostEquals(quadratic.dataSync()[0], 10 / 2.5, 1e-6);
  assertAlmostEquals(coefficient.dataSync()[0], 0.5, 1e-6);
});
