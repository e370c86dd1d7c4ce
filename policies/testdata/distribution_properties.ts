import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import type { Distribution } from "../distributions/distribution.ts";
import { assertClose, assertNoLeaks } from "./assertions.ts";
import { testOnBackends, values } from "./backends.ts";
import { seededRandom } from "./random.ts";

/** Sizes of parameters, up to where probabilities underflow. */
const LIMITS = [1, 40, 1e4];

function row(numbers: readonly number[]): tf.Tensor2D {
  return tf.tensor2d(numbers as number[], [1, numbers.length]);
}

function parameterRow(distribution: Distribution, limit: number) {
  const { parameterSize } = distribution;
  return fc.array(
    fc.integer({ min: -100, max: 100 }).map((n) => n / 100 * limit),
    { minLength: parameterSize, maxLength: parameterSize },
  );
}

/** Uniform or normal numbers for so many rows. */
export function noiseFor(
  distribution: Pick<Distribution, "noise">,
  rows: number,
  seed: number = 1,
): tf.Tensor2D {
  const { kind, size } = distribution.noise;
  const random = seededRandom(seed);
  const numbers = Float32Array.from(
    { length: rows * size },
    () => random[kind](),
  );
  return tf.tensor2d(numbers, [rows, size]);
}

/** Tests that hold for every distribution with closed forms. */
export function testAnyDistribution(
  name: string,
  distribution: Distribution,
): void {
  testSampling(name, distribution);
  testClosedForms(name, distribution);
  testMode(name, distribution);
}

/** Tests of samples and log-probabilities. */
export function testSampling(name: string, distribution: Distribution): void {
  const { parameterSize, actionShape, actionDtype } = distribution;

  testOnBackends(`${name}: shapes and types, nothing left behind`, () => {
    const parameters = tf.fill([5, parameterSize], 0.3) as tf.Tensor2D;
    const noise = noiseFor(distribution, 5);
    const actions = distribution.sample(parameters, noise);
    for (const tensor of [actions, distribution.mode(parameters)]) {
      assertEquals(tensor.shape, [5, ...actionShape]);
      assertEquals(tensor.dtype, actionDtype);
    }
    assertEquals(distribution.logProb(parameters, actions).shape, [5]);
    assertNoLeaks(() => ({
      logProb: distribution.logProb(parameters, actions),
      sample: distribution.sample(parameters, noise),
      mode: distribution.mode(parameters),
    }));
  });

  testOnBackends(`${name}: the same noise gives the same actions`, () => {
    const parameters = tf.fill([4, parameterSize], -0.2) as tf.Tensor2D;
    const [a, b] = [1, 1].map((seed) =>
      distribution.sample(parameters, noiseFor(distribution, 4, seed))
    );
    assertEquals(values(a), values(b));
  });
}

/** Tests of the entropy and the divergence. */
export function testClosedForms(
  name: string,
  distribution: Distribution,
): void {
  testOnBackends(`${name}: shapes of closed forms, nothing left behind`, () => {
    const { parameterSize } = distribution;
    const parameters = tf.fill([5, parameterSize], 0.3) as tf.Tensor2D;
    const scores = () => ({
      entropy: distribution.entropy(parameters),
      kl: distribution.klDivergence(parameters, parameters),
    });
    for (const tensor of Object.values(scores())) {
      assertEquals(tensor.shape, [5]);
    }
    assertNoLeaks(scores);
  });

  testOnBackends(
    `${name}: the divergence is not negative, 0 from itself`,
    () => {
      const parameters = parameterRow(distribution, 3);
      fc.assert(
        fc.property(parameters, parameters, (p, q) => {
          tf.tidy(() => {
            const [apart] = values(distribution.klDivergence(row(p), row(q)));
            const [same] = values(distribution.klDivergence(row(p), row(p)));
            assert(apart > -1e-5, `divergence ${apart}`);
            assert(Math.abs(same) < 1e-6, `divergence ${same} from itself`);
          });
        }),
        { numRuns: 30, seed: 2 },
      );
    },
  );
}

/** Tests that the mode is where the density is largest. */
function testMode(name: string, distribution: Distribution): void {
  testOnBackends(`${name}: no action is more likely than the mode`, () => {
    fc.assert(
      fc.property(parameterRow(distribution, 2), (p) => {
        tf.tidy(() => {
          const best = distribution.logProb(row(p), distribution.mode(row(p)));
          const rows = tf.tile(row(p), [16, 1]) as tf.Tensor2D;
          const actions = distribution.sample(rows, noiseFor(distribution, 16));
          const others = values(distribution.logProb(rows, actions));
          const [limit] = values(best);
          assert(others.every((logProb) => logProb <= limit + 1e-5));
        });
      }),
      { numRuns: 15, seed: 3 },
    );
  });
}

/** Tests of distributions over finitely many actions, given as numbers. */
export function testFiniteDistribution(
  name: string,
  distribution: Distribution,
  actions: readonly (number | readonly number[])[],
): void {
  const count = actions.length;
  const all = () =>
    tf.tensor(actions.flat(), [count, ...distribution.actionShape], "int32");
  const repeat = (p: readonly number[]) =>
    tf.tile(row(p), [count, 1]) as tf.Tensor2D;

  testAnyDistribution(name, distribution);

  for (const limit of LIMITS) {
    testOnBackends(`${name}: sums over all actions, up to ${limit}`, () => {
      const parameters = parameterRow(distribution, limit);
      const property = (p: readonly number[], q: readonly number[]) => {
        const logP = values(distribution.logProb(repeat(p), all()));
        const logQ = values(distribution.logProb(repeat(q), all()));
        const mean = (of: (i: number) => number) =>
          logP.reduce((sum, l, i) => sum + Math.exp(l) * of(i), 0);
        assertClose([mean(() => 1)], [1], 1e-5);
        const entropy = mean((i) => -logP[i]);
        assertClose(distribution.entropy(row(p)), [entropy], 1e-5);
        const divergence = mean((i) => logP[i] - logQ[i]);
        assertClose(
          distribution.klDivergence(row(p), row(q)),
          [divergence],
          1e-5,
        );
      };
      fc.assert(
        fc.property(
          parameters,
          parameters,
          (p, q) => tf.tidy(() => property(p, q)),
        ),
        { numRuns: 15, seed: 4 },
      );
    });

    testOnBackends(`${name}: gradients are finite up to ${limit}`, () => {
      const extremes = fc.array(fc.constantFrom(-limit, 0, limit), {
        minLength: distribution.parameterSize,
        maxLength: distribution.parameterSize,
      });
      fc.assert(
        fc.property(extremes, extremes, (p, q) => {
          tf.tidy(() => {
            const gradients = [
              tf.grad((x) => distribution.logProb(x as tf.Tensor2D, all()))(
                repeat(p),
              ),
              tf.grad((x) => distribution.entropy(x as tf.Tensor2D))(row(p)),
              ...tf.grads((x, y) =>
                distribution.klDivergence(x as tf.Tensor2D, y as tf.Tensor2D)
              )([row(p), row(q)]),
            ];
            for (const gradient of gradients) {
              assert(values(gradient).every(Number.isFinite));
            }
          });
        }),
        { numRuns: 10, seed: 5 },
      );
    });
  }

  testOnBackends(`${name}: sampled as often as it is likely`, () => {
    const samples = 4000;
    const p = Array.from(
      { length: distribution.parameterSize },
      (_, i) => Math.sin(3 * i + 1),
    );
    const rows = tf.tile(row(p), [samples, 1]) as tf.Tensor2D;
    const drawn = distribution.sample(rows, noiseFor(distribution, samples));
    const width = drawn.size / samples;
    const numbers = values(drawn);
    const counts = new Map<string, number>();
    for (let i = 0; i < numbers.length; i += width) {
      const key = String(numbers.slice(i, i + width));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const logProbs = values(distribution.logProb(repeat(p), all()));
    actions.forEach((action, i) => {
      const likely = Math.exp(logProbs[i]);
      const deviation = Math.sqrt(likely * (1 - likely) / samples);
      const often = (counts.get(String(action)) ?? 0) / samples;
      assert(
        Math.abs(often - likely) <= 4.5 * deviation + 1e-6,
        `${action}: ${often} instead of ${likely}`,
      );
    });
    const known = new Set(actions.map(String));
    assert([...counts.keys()].every((action) => known.has(action)));
  });
}
