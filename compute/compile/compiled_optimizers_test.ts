import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { clipByGlobalNorm, valueAndGradients } from "../gradients.ts";
import {
  createOptimizer,
  type OptimizerName,
  type OptimizerSettings,
} from "../optimizers.ts";
import type { Params } from "../params.ts";
import { noise } from "../testdata/backends_agree.ts";
import { float } from "../testdata/traced.ts";
import { testCompiledEngines } from "../testdata/engines.ts";
import { compileStep } from "./compile.ts";
import type { EngineName } from "./options.ts";

await selectBackend("cpu");

const SHAPES = { w1: [3, 4], b1: [4], w2: [4, 1], scale: [] };

function params(): Params {
  return Object.fromEntries(
    Object.entries(SHAPES).map(([name, shape], i) => [
      name,
      tf.tensor(noise(shape, i + 1), shape),
    ]),
  );
}

function lossOf({ w1, b1, w2, scale }: Params, x: tf.Tensor): tf.Scalar {
  const hidden = tf.tanh(tf.add(tf.matMul(x, w1), b1));
  return tf.mean(
    tf.square(tf.sub(tf.mul(tf.matMul(hidden, w2), scale), 1)),
  ) as tf.Scalar;
}

/** What 20 steps make of the parameters, and the losses before each. */
function train(
  name: OptimizerName,
  { engine, settings, clip }: {
    engine: EngineName;
    settings: OptimizerSettings;
    clip: boolean;
  },
) {
  const optimizer = createOptimizer(name, settings);
  const start = params();
  const step = compileStep(({ params, slots }, { x, rate }) => {
    const { loss, gradients } = valueAndGradients(
      (params) => ({ loss: lossOf(params, x) }),
      params,
    );
    const clipped = clip
      ? clipByGlobalNorm(gradients, 0.5).gradients
      : gradients;
    const learningRate = rate as tf.Scalar;
    const moved = optimizer.apply(params, clipped, {
      state: slots,
      learningRate,
    });
    return { state: { params: moved.params, slots: moved.state }, loss };
  }, {
    state: { params: start, slots: optimizer.init(start) },
    inputs: { x: float(5, 3), rate: float() },
    engine,
  });
  const losses = Array.from(
    { length: 20 },
    (_, i) => step.run({ x: noise([5, 3], i), rate: 0.05 / (i + 1) }).loss[0],
  );
  const state = step.read();
  step.close();
  return { losses, state };
}

/** Differences relative to the largest number of a tensor. */
function assertClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  within: number,
): void {
  const numbers = Array.from(expected);
  const scale = Math.max(...numbers.map(Math.abs));
  numbers.forEach((it, i) => {
    const difference = Math.abs(actual[i] - it) / scale;
    assert(difference <= within, `${actual[i]} compiled, ${it} eagerly`);
  });
}

const CASES: [OptimizerName, OptimizerSettings][] = [
  ["rmsprop_tf1", {}],
  ["rmsprop", {}],
  ["adam", {}],
  ["adam_tf1", {}],
  ["sgd", {}],
  ["sgd", { momentum: 0.9 }],
];

for (const [name, settings] of CASES) {
  for (const clip of [false, true]) {
    const title = `${name} ${JSON.stringify(settings)}${
      clip ? ", clipped" : ""
    }`;
    const steps = `${title}: 20 steps give the same compiled and eagerly`;
    testCompiledEngines(steps, (engine) => {
      const [compiled, eager] = [engine, "eager" as const].map((engine) =>
        train(name, { engine, settings, clip })
      );
      // It divides by numbers near 0: eager backends differ by as much.
      const within = name === "rmsprop" ? 1e-5 : 1e-6;
      assertClose(compiled.losses, eager.losses, within);
      assertEquals(
        Object.keys(compiled.state.slots),
        Object.keys(eager.state.slots),
      );
      for (const part of ["params", "slots"] as const) {
        for (
          const [path, { data, shape }] of Object.entries(eager.state[part])
        ) {
          assertEquals(compiled.state[part][path].shape, shape);
          assertClose(compiled.state[part][path].data, data, within);
        }
      }
    });
  }
}
