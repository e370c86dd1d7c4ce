import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { layerTags } from "@bellman/compute";
import fc from "fast-check";
import { cnnLstm, lnlstm, lstm, lstmSequence } from "./lstm.ts";
import { addPrefix, pickPrefix } from "./network.ts";
import { assertClose, assertNoLeaks } from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import { seededRandom } from "../testdata/random.ts";

interface LstmCase {
  name: string;
  inputs: {
    x: number[][][];
    masks: number[][];
    state: number[][];
    params: Record<string, number[] | number[][]>;
  };
  expected: { h: number[][][]; state: number[][] };
}

const reference = JSON.parse(
  await Deno.readTextFile(
    new URL("../../tests/reference/lstm_entropy_ortho.json", import.meta.url),
  ),
);

function tensors(params: LstmCase["inputs"]["params"]) {
  return Object.fromEntries(
    Object.entries(params).map((
      [name, array],
    ) => [name, tf.tensor(array, undefined, "float32")]),
  );
}

for (const { name, inputs, expected } of reference.lstm as LstmCase[]) {
  testOnBackends(`${name} of the reference`, () => {
    const { output, state } = lstmSequence(
      tensors(inputs.params),
      tf.tensor2d(inputs.x.flat()),
      {
        state: tf.tensor2d(inputs.state),
        masks: tf.tensor1d(inputs.masks.flat()),
      },
    );
    assertClose(output, expected.h.flat(2));
    assertClose(state, expected.state.flat());
  });
}

const SIZE = 3;
const INPUT = 2;

for (const [name, make] of Object.entries({ lstm, lnlstm })) {
  const network = make({ inputShape: [INPUT], lstmSize: SIZE });
  const parameters = () => pickPrefix(network.init(seededRandom(7)), "lstm");

  testOnBackends(`${name} in a sequence is its steps one by one`, () => {
    const params = parameters();
    const x = tf.tensor2d([[1, 2], [3, -4], [0.5, 1]]);
    const start = tf.tensor2d([[0.1, 0.2, 0.3, -0.1, 0.5, 0.9]]);
    let state = start;
    for (let t = 0; t < 3; t++) {
      const row = x.slice([t, 0], [1, INPUT]);
      ({ state } = lstmSequence(params, row, { state }));
    }
    const last = lstmSequence(params, x, { state: start }).state;
    assertClose(last, values(state), 1e-6);
  });

  testOnBackends(`a mask resets the state of ${name} exactly`, () => {
    const params = parameters();
    const x = tf.tensor2d([[1, 2], [3, -4], [0.5, 1], [2, 2]]);
    const state = tf.tensor2d([[9, -9, 9, 0.7, -0.7, 0.7]]);
    const masks = tf.tensor1d([0, 0, 1, 0]);
    const whole = lstmSequence(params, x, { state, masks });
    const fresh = lstmSequence(params, x.slice([2, 0], [2, INPUT]), {
      state: tf.zeros([1, 2 * SIZE]),
    });
    assertEquals(values(whole.state), values(fresh.state));
    assertEquals(values(whole.output).slice(2 * SIZE), values(fresh.output));
  });

  testOnBackends(`the environments of ${name} do not mix`, () => {
    const params = parameters();
    const number = fc.integer({ min: -40, max: 40 }).map((n) => n / 8);
    const run = (x: number[], start: number[], masks: number[]) =>
      tf.tidy(() => {
        const { output, state } = lstmSequence(
          params,
          tf.tensor2d(x, [6, INPUT]),
          {
            state: tf.tensor2d(start, [3, 2 * SIZE]),
            masks: tf.tensor1d(masks),
          },
        );
        return { output: values(output), state: values(state) };
      });
    const numbers = (n: number) =>
      fc.array(number, { minLength: n, maxLength: n });
    const flags = fc.array(fc.constantFrom(0, 1), {
      minLength: 6,
      maxLength: 6,
    });
    const batch = fc.tuple(numbers(12), numbers(18), flags);
    fc.assert(
      fc.property(batch, batch, fc.integer({ min: 0, max: 2 }), (a, b, env) => {
        // All of b, but one environment taken from a.
        const mixed = b.map((array, i) => {
          const part = array.length / 3;
          const copy = array.slice();
          const own = a[i].slice(env * part, (env + 1) * part);
          copy.splice(env * part, part, ...own);
          return copy;
        }) as typeof b;
        const [one, other] = [run(...a), run(...mixed)];
        for (const key of ["output", "state"] as const) {
          const part = one[key].length / 3;
          const own = (array: number[]) =>
            array.slice(env * part, (env + 1) * part);
          assertEquals(own(one[key]), own(other[key]));
        }
      }),
      { numRuns: 20, seed: 1 },
    );
  });

  testOnBackends(`${name} without a state starts each row from zeros`, () => {
    const params = parameters();
    const x = tf.tensor2d([[1, 2], [3, -4]]);
    const bare = lstmSequence(params, x);
    const zeros = lstmSequence(params, x, { state: tf.zeros([2, 2 * SIZE]) });
    assertEquals(values(bare.output), values(zeros.output));
    assertEquals(values(bare.state), values(zeros.state));
    assertNoLeaks(() => ({ ...lstmSequence(params, x) }));
  });
}

/** An LSTM of 3 environments as its formulas have it, without a gradient of its own. */
function written(
  { wx, wh, b }: Record<string, tf.Tensor>,
  [x, state, masks]: readonly tf.Tensor[],
) {
  let [c, h] = tf.split(state, 2, 1);
  const numSteps = x.shape[0] / 3;
  const outputs = Array.from({ length: numSteps }, (_, t) => {
    const now = tf.gather(tf.reshape(x, [3, -1, INPUT]), t, 1);
    const keep = tf.sub(1, tf.gather(tf.reshape(masks, [3, -1, 1]), t, 1));
    [c, h] = [tf.mul(c, keep), tf.mul(h, keep)];
    const z = tf.add(tf.add(tf.matMul(now, wx), tf.matMul(h, wh)), b);
    const [i, f, o, u] = tf.split(z, 4, 1);
    c = tf.add(tf.mul(tf.sigmoid(f), c), tf.mul(tf.sigmoid(i), tf.tanh(u)));
    return h = tf.mul(tf.sigmoid(o), tf.tanh(c));
  });
  const output = tf.reshape(tf.stack(outputs, 1), [-1, SIZE]);
  return { output, state: tf.concat([c, h], 1) };
}

testOnBackends("the gradients of an LSTM are those of its formulas", () => {
  const random = seededRandom(3);
  const normal = (...shape: number[]) =>
    tf.tensor(
      Array.from(
        { length: shape.reduce((a, b) => a * b) },
        () => random.normal(),
      ),
      shape,
    );
  const params = pickPrefix(
    lstm({ inputShape: [INPUT], lstmSize: SIZE }).init(random),
    "lstm",
  );
  for (const numSteps of [1, 2, 5]) {
    const rows = 3 * numSteps;
    const masks = tf.tensor1d(
      Array.from({ length: rows }, () => Number(random.uniform() < 0.3)),
    );
    const weights = { output: normal(rows, SIZE), state: normal(3, 2 * SIZE) };
    const inputs = [normal(rows, INPUT), normal(3, 2 * SIZE)];
    const gradients = (run: typeof written) =>
      tf.grads((x, state, wx, wh, b) => {
        const made = run({ wx, wh, b }, [x, state, masks]);
        return tf.add(
          tf.sum(tf.mul(made.output, weights.output)),
          tf.sum(tf.mul(made.state, weights.state)),
        );
      })([...inputs, params.wx, params.wh, params.b]);
    const own = gradients((params, [x, state, masks]) =>
      lstmSequence(params, x as tf.Tensor2D, {
        state: state as tf.Tensor2D,
        masks: masks as tf.Tensor1D,
      })
    );
    gradients(written).forEach((it, i) =>
      assertClose(own[i], values(it), 1e-5)
    );
  }
});

for (
  const [name, network] of Object.entries({
    lstm: lstm({ inputShape: [INPUT], lstmSize: SIZE }),
    lnlstm: lnlstm({ inputShape: [INPUT], lstmSize: SIZE }),
    cnn_lstm: cnnLstm({
      inputShape: [8, 8, 1],
      lstmSize: SIZE,
      convLayers: [[2, 3, 2]],
      denseSize: 4,
    }),
  })
) {
  const random = seededRandom(5), rows = 3 * 4;
  const each = () =>
    [0, 1].map(() => {
      const size = network.inputShape.reduce((a, b) => a * b);
      const numbers = (count: number, draw = () => random.normal()) =>
        Array.from({ length: count }, draw);
      const inputs = {
        x: tf.tensor(numbers(rows * size), [rows, ...network.inputShape]),
        state: tf.tensor2d(numbers(6 * SIZE), [3, 2 * SIZE]),
        masks: tf.tensor1d(numbers(rows, () => Number(random.uniform() < 0.3))),
      };
      return [network.init(random), inputs] as const;
    });

  testOnBackends(`two ${name} at once are one after another`, () => {
    const both = each(), names = Object.keys(both[0][0]);
    const params = both.flatMap(([params]) => Object.values(params));
    const outputsOf = (apply: typeof network.applyAll, given: tf.Tensor[]) =>
      apply!(both.map(([, inputs], i) => [
        Object.fromEntries(
          names.map((name, at) => [name, given[i * names.length + at]]),
        ),
        inputs,
      ])).flatMap(({ output, state }) => [output, state!]);
    const single: typeof network.applyAll = (each) =>
      each.map((it) => network.apply(...it));
    const [own, wanted] = [network.applyAll!.bind(network), single].map(
      (apply) => [
        ...outputsOf(apply, params),
        ...tf.grads((...given) =>
          tf.addN(outputsOf(apply, given).map((it) => tf.sum(tf.square(it))))
        )(params),
      ],
    );
    own.forEach((it, i) => assertClose(it, values(wanted[i]), 1e-5));
  });

  testOnBackends(`weights of two ${name} at once are observed each`, () => {
    const [[params, inputs], [others]] = each();
    const all = { ...addPrefix(params, "pi"), ...addPrefix(others, "vf") };
    const { uses } = layerTags((all) => {
      const of = (name: string) => [pickPrefix(all, name), inputs] as const;
      const made = network.applyAll!([of("pi"), of("vf")]);
      return tf.sum(tf.add(made[0].output, made[1].output));
    }, all);
    for (const name of ["pi", "vf"]) {
      const times = uses.filter((it) => it.weight === `${name}/lstm/wh`);
      assertEquals(times.length, 4);
      assert(times.every((it) => it.gradient));
    }
  });
}

testOnBackends("numbers of any size stay finite", () => {
  const params = pickPrefix(
    lstm({ inputShape: [INPUT], lstmSize: SIZE }).init(seededRandom(1)),
    "lstm",
  );
  const { state } = lstmSequence(params, tf.tensor2d([[1e4, -1e4]]));
  assert(values(state).every(Number.isFinite));
});

testOnBackends("rows that are no multiple of the environments", () => {
  const params = pickPrefix(
    lstm({ inputShape: [INPUT], lstmSize: SIZE }).init(seededRandom(1)),
    "lstm",
  );
  assertThrows(
    () =>
      lstmSequence(params, tf.zeros([5, INPUT]), {
        state: tf.zeros([2, 2 * SIZE]),
      }),
    RangeError,
    "Cannot run an LSTM over 5 rows of 2 environments",
  );
});
