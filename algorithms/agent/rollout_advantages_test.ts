import { selectBackend } from "@bellman/compute";
import {
  explainedVariance,
  generalizedAdvantageEstimation,
} from "@bellman/returns";
import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import {
  advantageTargets,
  type RolloutTensors,
  tensorAdvantages,
  tensorExplainedVariance,
} from "./rollout.ts";

await selectBackend("cpu");

const number = fc.float({ min: -10, max: 10, noNaN: true });
const flag = fc.constantFrom(0, 0, 0, 1);

/** Random rollouts, env-major as on typed arrays. */
const rollouts = fc.record({
  numEnvs: fc.integer({ min: 1, max: 4 }),
  numSteps: fc.integer({ min: 1, max: 20 }),
}).chain(({ numEnvs, numSteps }) => {
  const rows = <T>(of: fc.Arbitrary<T>, count = numEnvs * numSteps) =>
    fc.array(of, { minLength: count, maxLength: count });
  return fc.record({
    numEnvs: fc.constant(numEnvs),
    numSteps: fc.constant(numSteps),
    rewards: rows(number).map((it) => Float64Array.from(it)),
    values: rows(number).map((it) => Float32Array.from(it)),
    finalValues: rows(number).map((it) => Float32Array.from(it)),
    terminated: rows(flag).map((it) => Uint8Array.from(it)),
    truncated: rows(flag).map((it) => Uint8Array.from(it)),
    lastValues: rows(number, numEnvs).map((it) => Float32Array.from(it)),
  });
});

type Data = typeof rollouts extends fc.Arbitrary<infer T> ? T : never;

/** The same rollout as tensors, step-major. */
function tensorsOf(
  { numEnvs, numSteps, lastValues, ...rows }: Data,
): RolloutTensors {
  const tensors = Object.fromEntries(
    Object.entries(rows).map(([name, values]) => [
      name,
      tf.transpose(tf.tensor2d(Float32Array.from(values), [numEnvs, numSteps])),
    ]),
  );
  return { ...tensors, lastValues: tf.tensor1d(lastValues) } as never;
}

/** Numbers of a tensor, env-major. */
const numbersOf = (it: tf.Tensor) => tf.transpose(it).dataSync();

/** Distance from the smallest number to the largest. */
function spread(numbers: ArrayLike<number>): number {
  const all = Array.from(numbers);
  return Math.max(...all) - Math.min(...all);
}

function assertClose(actual: ArrayLike<number>, expected: ArrayLike<number>) {
  assertEquals(actual.length, expected.length);
  for (let i = 0; i < expected.length; i++) {
    const within = 2e-5 * Math.max(1, Math.abs(expected[i]));
    assert(
      Math.abs(actual[i] - expected[i]) <= within,
      `number ${i}: ${actual[i]}, expected ${expected[i]}`,
    );
  }
}

Deno.test("advantages and returns are those of typed arrays", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(rollouts, share, share, (data, gamma, lambda) => {
      const { numEnvs, numSteps } = data;
      const options = { numEnvs, numSteps, gamma, lambda };
      const expected = generalizedAdvantageEstimation(data, options);
      tf.tidy(() => {
        const made = tensorAdvantages(tensorsOf(data), { gamma, lambda });
        assertClose(numbersOf(made.advantages), expected.advantages);
        assertClose(numbersOf(made.returns), expected.returns);
      });
    }),
    { seed: 1, numRuns: 60 },
  );
});

Deno.test("targets of tensors are those of typed arrays", () => {
  const gamma = 0.99, lambda = 0.9;
  fc.assert(
    fc.property(rollouts, fc.boolean(), (data, normalizeAdvantage) => {
      const options = advantageTargets({
        gamma,
        gaeLambda: lambda,
        normalizeAdvantage,
      });
      const expected = options.targets(data);
      const { numEnvs, numSteps } = data;
      const raw = generalizedAdvantageEstimation(data, {
        numEnvs,
        numSteps,
        gamma,
        lambda,
      });
      tf.tidy(() => {
        const made = options.tensorTargets!(tensorsOf(data));
        assertEquals(Object.keys(made.inputs), [...options.inputs]);
        for (const name of options.inputs) {
          const numbers = expected.inputs[name];
          if (normalizeAdvantage && spread(raw.advantages) < 1e-2) continue;
          assertClose(numbersOf(made.inputs[name]), numbers);
        }
        for (const [name, it] of Object.entries(expected.stats!)) {
          const [actual] = made.stats![name].dataSync();
          // Of the variance of numbers that hardly vary, float32 knows nothing.
          if (spread(expected.inputs.returns) < 1e-2) continue;
          const within = 1e-4 * Math.max(1, Math.abs(it));
          assert(Math.abs(actual - it) <= within, `${name}: ${actual}, ${it}`);
        }
      });
    }),
    { seed: 1, numRuns: 60 },
  );
});

Deno.test("the explained variance is that of typed arrays", () => {
  const cases = [[[1, 2, 3], [1, 2, 4]], [[0, 0], [5, 5]], [[0, 1], [2, 5]]];
  for (const [predictions, targets] of cases) {
    const [made] = tensorExplainedVariance(
      tf.tensor1d(predictions),
      tf.tensor1d(targets),
    ).dataSync();
    const expected = explainedVariance(predictions, targets);
    assertEquals(Number.isNaN(made), Number.isNaN(expected));
    if (!Number.isNaN(expected)) assertClose([made], [expected]);
  }
});
