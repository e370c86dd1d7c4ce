import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { compile, RandomStream, selectBackend } from "@bellman/compute";
import { isXlaInstalled } from "@bellman/compute/xla";
import fc from "fast-check";
import * as tf from "@tensorflow/tfjs";
import {
  bernoulli,
  categorical,
  catEntropy,
  catEntropySoftmax,
  multiCategorical,
} from "./discrete.ts";
import type { Distribution } from "./distribution.ts";
import { assertClose } from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import { testFiniteDistribution } from "../testdata/distribution_properties.ts";

interface EntropyCase {
  inputs: { logits: number[][] };
  expected: {
    softmax: number[][];
    cat_entropy: number[];
    cat_entropy_softmax_of_softmax: number[];
    neglogp_all: number[][];
  };
}

const reference = JSON.parse(
  await Deno.readTextFile(
    new URL("../../tests/reference/lstm_entropy_ortho.json", import.meta.url),
  ),
);

testFiniteDistribution("categorical(4)", categorical(4), [0, 1, 2, 3]);
testFiniteDistribution(
  "categorical(3) from -1",
  categorical(3, { start: -1 }),
  [-1, 0, 1],
);
testFiniteDistribution("categorical(1)", categorical(1), [0]);

(reference.entropy as EntropyCase[]).forEach(({ inputs, expected }, i) => {
  testOnBackends(`entropies and log-probabilities of reference ${i}`, () => {
    const logits = tf.tensor2d(inputs.logits);
    const [rows, n] = logits.shape;
    assertClose(catEntropy(logits), expected.cat_entropy);
    assertClose(categorical(n).entropy(logits), expected.cat_entropy);
    assertClose(
      catEntropySoftmax(tf.tensor2d(expected.softmax)),
      expected.cat_entropy_softmax_of_softmax,
    );
    for (let action = 0; action < n; action++) {
      const actions = tf.fill([rows], action, "int32");
      const negative = tf.neg(categorical(n).logProb(logits, actions));
      assertClose(negative, expected.neglogp_all.map((row) => row[action]));
    }
  });
});

testOnBackends("noise of exactly 0 or 1 never draws impossible actions", () => {
  const distribution = categorical(3);
  const logits = tf.tensor2d([[0, -1e4, 1e4], [1e4, 0, -1e4], [-1e4, 0, -1e4]]);
  for (const noise of [0, 1]) {
    for (let column = 0; column < 3; column++) {
      const row = [0, 1, 2].map((i) => i === column ? noise : 0.5);
      const actions = distribution.sample(logits, tf.tensor2d([row, row, row]));
      assertEquals(values(actions), [2, 0, 1]);
    }
  }
});

Deno.test("a categorical distribution needs a number of actions", () => {
  for (const n of [0, -1, 1.5, NaN]) {
    assertThrows(
      () => categorical(n),
      RangeError,
      `Cannot make a categorical distribution over ${n} actions`,
    );
  }
});

const PAIRS = [0, 1, 2].flatMap((a) => [0, 1].map((b) => [a, b]));
testFiniteDistribution(
  "multiCategorical([3, 2])",
  multiCategorical([3, 2]),
  PAIRS,
);
testFiniteDistribution(
  "multiCategorical([3])",
  multiCategorical([3]),
  [[0], [1], [2]],
);

testOnBackends("each part has its own logits, in order", () => {
  const logits = tf.tensor2d([[0.5, -1, 2, 1, 3]]);
  const [first, second] = tf.split(logits, [3, 2], 1);
  const sum = tf.add(
    categorical(3).logProb(first as tf.Tensor2D, tf.tensor1d([2], "int32")),
    categorical(2).logProb(second as tf.Tensor2D, tf.tensor1d([0], "int32")),
  );
  const actions = tf.tensor2d([[2, 0]], [1, 2], "int32");
  const whole = multiCategorical([3, 2]).logProb(logits, actions);
  assertClose(whole, values(sum), 1e-6);
});

Deno.test("a multi-categorical distribution needs parts", () => {
  assertThrows(() => multiCategorical([]), RangeError, "without any part");
  assertThrows(() => multiCategorical([2, 0]), RangeError, "over 0 actions");
});

testFiniteDistribution(
  "bernoulli(2)",
  bernoulli(2),
  [[0, 0], [0, 1], [1, 0], [1, 1]],
);

testOnBackends("probabilities are the logistic function of the logits", () => {
  const logits = [-3, -0.5, 0, 2];
  const ones = tf.ones([4, 1], "int32");
  const logProb = bernoulli(1).logProb(tf.tensor2d(logits, [4, 1]), ones);
  assertClose(logProb, logits.map((l) => -Math.log1p(Math.exp(-l))), 1e-6);
});

testOnBackends("impossible numbers are never drawn", () => {
  const logits = tf.tensor2d([[-1e4, 1e4]]);
  for (const noise of [0, 0.5, 1 - 2 ** -24]) {
    const drawn = bernoulli(2).sample(
      logits,
      tf.fill([1, 2], noise) as tf.Tensor2D,
    );
    assertEquals(values(drawn), [0, 1]);
  }
});

Deno.test("a Bernoulli distribution needs numbers", () => {
  assertThrows(
    () => bernoulli(0),
    RangeError,
    "Cannot make a Bernoulli distribution over 0 numbers",
  );
});

/** A family, its actions, and the choices of each in a mask. */
const MASKED: [
  string,
  Distribution,
  number[][],
  (action: number[]) => number[],
][] = [
  ["categorical", categorical(3), [[0], [1], [2]], ([a]) => [a]],
  [
    "multi-categorical",
    multiCategorical([2, 3]),
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]],
    ([a, b]) => [a, 2 + b],
  ],
  [
    "Bernoulli",
    bernoulli(2),
    [[0, 0], [0, 1], [1, 0], [1, 1]],
    ([a, b]) => [a, 2 + b],
  ],
];

for (const [name, distribution, actions, choicesOf] of MASKED) {
  const { masking, parameterSize, actionShape, noise } = distribution;
  const { size, apply } = masking!;
  const masks = fc.array(fc.constantFrom(0, 1), {
    minLength: size,
    maxLength: size,
  });
  const logits = fc.array(fc.double({ min: -9, max: 9, noNaN: true }), {
    minLength: parameterSize,
    maxLength: parameterSize,
  });
  const tensorOf = (action: number[]) =>
    tf.tensor(action, [1, ...actionShape], "int32");

  testOnBackends(`a masked ${name} is the one over what is allowed`, () => {
    fc.assert(
      fc.property(masks, logits, fc.nat(), (mask, logits, seed) => {
        const allowed = actions.filter((it) =>
          choicesOf(it).every((choice) => mask[choice] === 1)
        );
        fc.pre(allowed.length > 0);
        const given = tf.tensor2d([logits]);
        const masked = apply(given, tf.tensor2d([mask], undefined, "int32"));
        const probOf = (parameters: tf.Tensor2D, action: number[]) =>
          Math.exp(
            values(distribution.logProb(parameters, tensorOf(action)))[0],
          );
        const total = allowed.reduce((sum, it) => sum + probOf(given, it), 0);
        let entropy = 0;
        for (const action of actions) {
          const expected = allowed.includes(action)
            ? probOf(given, action) / total
            : 0;
          assertAlmostEquals(probOf(masked, action), expected, 1e-4);
          if (expected > 0) entropy -= expected * Math.log(expected);
        }
        assertAlmostEquals(
          values(distribution.entropy(masked))[0],
          entropy,
          1e-3,
        );
        const random = tf.randomUniform<tf.Rank.R2>(
          [1, noise.size],
          0,
          1,
          "float32",
          seed,
        );
        const names = allowed.map(String);
        for (
          const action of [
            distribution.sample(masked, random),
            distribution.mode(masked),
          ]
        ) assert(names.includes(String(values(action))));
      }),
      { numRuns: 30 },
    );
  });
}

/** Choices of each part of an action, and the part's first number in a mask. */
const PARTS: [string, Distribution, number[]][] = [
  ["categorical", categorical(7), [7]],
  ["multi-categorical", multiCategorical([2, 3, 4]), [2, 3, 4]],
  ["Bernoulli", bernoulli(4), [2, 2, 2, 2]],
];

/** Draws masks that allow at least one choice of each part. */
function drawMasks(rows: number, parts: number[], random: RandomStream) {
  const masks: number[] = [];
  for (let row = 0; row < rows; row++) {
    for (const n of parts) {
      const kept = random.integer(n);
      for (let i = 0; i < n; i++) {
        masks.push(+(i === kept || random.integer(3) === 0));
      }
    }
  }
  return Uint8Array.from(masks);
}

for (const engine of ["eager", "onnx", "xla"] as const) {
  Deno.test({
    name: `of a million samples none is forbidden (${engine})${
      engine === "xla" ? " [XLA]" : ""
    }`,
    ignore: engine === "xla" && !isXlaInstalled(),
    async fn() {
      await selectBackend(engine === "eager" ? "wasm" : "cpu");
      const random = new RandomStream(5), rows = 50_000, calls = 7;
      let samples = 0;
      for (const [name, distribution, parts] of PARTS) {
        const { masking, noise, parameterSize } = distribution;
        const { size } = masking!;
        const program = compile(({ logits, masks, noise }) => {
          const parameters = masking!.apply(logits as tf.Tensor2D, masks);
          return {
            sample: distribution.sample(parameters, noise as tf.Tensor2D),
            mode: distribution.mode(parameters),
          };
        }, {
          engine,
          inputs: {
            logits: { shape: [rows, parameterSize], dtype: "float32" },
            masks: { shape: [rows, size], dtype: "uint8" },
            noise: { shape: [rows, noise.size], dtype: "float32" },
          },
        });
        for (let call = 0; call < calls; call++) {
          const masks = drawMasks(rows, parts, random);
          const logits = random
            .fillNormal(new Float32Array(rows * parameterSize))
            // Some favour what is forbidden by far.
            .map((it) => it * 10 ** (call - 1));
          const numbers = random
            .fillUniform(new Float32Array(rows * noise.size))
            .map((it, i) => i % 97 === 0 ? i % 2 : it);
          const drawn = program.run({ logits, masks, noise: numbers });
          for (const actions of Object.values(drawn)) {
            let at = 0, forbidden = 0;
            for (let row = 0; row < rows; row++) {
              for (let part = 0; part < parts.length; part++) {
                forbidden += 1 - masks[at + actions[row * parts.length + part]];
                at += parts[part];
              }
            }
            assertEquals([name, forbidden], [name, 0]);
          }
          samples += rows;
        }
      }
      assert(samples >= 1e6);
    },
  });
}

/** Sizes of numbers, up to the ends of float32. */
const SCALES = [1, 80, 1e4, 2e9, 1e20, 1e28];

for (const engine of ["eager", "onnx", "xla"] as const) {
  Deno.test({
    name:
      `masks hold for numbers of every size, with finite entropies and gradients (${engine})${
        engine === "xla" ? " [XLA]" : ""
      }`,
    ignore: engine === "xla" && !isXlaInstalled(),
    async fn() {
      await selectBackend(engine === "eager" ? "wasm" : "cpu");
      const random = new RandomStream(7), rows = 300;
      for (const [name, distribution, parts] of PARTS) {
        const { masking, noise, parameterSize } = distribution;
        const { size, apply } = masking!;
        const float = (width: number) =>
          ({ shape: [rows, width], dtype: "float32" }) as const;
        const program = compile(({ logits, masks, noise, weight }) => {
          const masked = (x: tf.Tensor) => apply(x as tf.Tensor2D, masks);
          const parameters = masked(logits);
          const mode = distribution.mode(parameters);
          const terms = (x: tf.Tensor) => {
            const it = masked(x);
            return tf.add(
              distribution.logProb(it, mode),
              tf.add(
                distribution.entropy(it),
                distribution.klDivergence(it, parameters),
              ),
            );
          };
          return {
            sample: distribution.sample(parameters, noise as tf.Tensor2D),
            mode,
            terms: terms(logits),
            gradient: tf.grad((x) => tf.mul(tf.sum(terms(x)), weight))(logits),
          };
        }, {
          engine,
          inputs: {
            logits: float(parameterSize),
            masks: { shape: [rows, size], dtype: "uint8" },
            noise: float(noise.size),
            weight: { shape: [], dtype: "float32" },
          },
        });
        for (const scale of SCALES) {
          for (const shift of [0, -2]) {
            const masks = drawMasks(rows, parts, random);
            const logits = random
              .fillUniform(new Float32Array(rows * parameterSize))
              .map((it) => scale * (2 * it - 1 + shift));
            const numbers = random
              .fillUniform(new Float32Array(rows * noise.size))
              .map((it, i) => i % 97 === 0 ? i % 2 : it);
            // A weight of losses, such as a high temperature.
            const weight = Float32Array.of(100);
            const { sample, mode, terms, gradient } = program
              .run({ logits, masks, noise: numbers, weight });
            const what = `${name}, ${scale}, ${shift}`;
            for (const actions of [sample, mode]) {
              let at = 0, forbidden = 0;
              for (let row = 0; row < rows; row++) {
                for (let part = 0; part < parts.length; part++) {
                  const action = actions[row * parts.length + part];
                  forbidden += 1 - masks[at + action];
                  at += parts[part];
                }
              }
              assertEquals([what, forbidden], [what, 0]);
            }
            for (const numbers of [terms, gradient]) {
              const bad = [...numbers].filter((it) => !Number.isFinite(it));
              assertEquals([what, bad.length], [what, 0]);
            }
          }
        }
      }
    },
  });
}

testOnBackends("a row that allows nothing has finite numbers", () => {
  for (const [, distribution, parts] of PARTS) {
    const { masking, parameterSize, noise } = distribution;
    const masked = masking!.apply(
      tf.fill([1, parameterSize], 7),
      tf.zeros([1, masking!.size], "int32"),
    );
    const drawn = distribution.sample(masked, tf.fill([1, noise.size], 0.5));
    values(drawn).forEach((it, i) => assert(it >= 0 && it < parts[i]));
    const [logProb] = values(distribution.logProb(masked, drawn));
    assert(Number.isFinite(logProb + values(distribution.entropy(masked))[0]));
  }
});

Deno.test("forbidden actions of several parts have a finite logarithm", async () => {
  await selectBackend("cpu");
  const { masking, logProb } = multiCategorical([2, 3, 2]);
  const masks = tf.tensor2d([[1, 0, 1, 0, 0, 1, 0]], undefined, "bool");
  const parameters = masking!.apply(tf.zeros([1, 7]), masks);
  const actions = tf.tensor2d([[1, 2, 1]], undefined, "int32");
  assert(Number.isFinite(logProb(parameters, actions).dataSync()[0]));
});
