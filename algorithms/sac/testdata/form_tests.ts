/** What holds for every form of the update. */
import { assert, assertEquals } from "@std/assert";
import { disposeParams, mapParams, type Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import {
  type AnyResult,
  type AnyState,
  type Form,
  numbersOf,
  scalarsOf,
} from "./forms.ts";

function step(form: Form, batch: Params, state = form.state): AnyResult {
  return form.update(state, batch, scalarsOf(form.hyperparameters));
}

function disposeState(state: AnyState): void {
  disposeParams(...Object.values(state));
}

/** The largest deviation of two states, relative from 1 on. */
function deviation(
  a: Record<string, ArrayLike<number>>,
  b: Record<string, ArrayLike<number>>,
): number {
  let worst = 0;
  for (const name in b) {
    for (let i = 0; i < b[name].length; i++) {
      const off = Math.abs(a[name][i] - b[name][i]);
      worst = Math.max(worst, off / (1 + Math.abs(b[name][i])));
    }
  }
  return worst;
}

/** Takes rows of a field of a batch; critics have an order, and rows for each pass. */
function gathered(name: string, it: tf.Tensor, rows: tf.Tensor1D): tf.Tensor {
  if (name === "criticOrder") return it;
  if (name !== "dropout") return tf.gather(it, rows);
  const passes = tf.reshape(it, [-1, rows.size, it.shape[1]!]);
  return tf.reshape(tf.gather(passes, rows, 1), it.shape);
}

/** Adds the tests of a form. */
export function testForm(form: Form): void {
  // Of rows that share no statistics, and have target networks.
  const testApart = (name: string, fn: () => void) => {
    if (!form.isJoint) Deno.test(name, fn);
  };

  Deno.test(`${form.name}: an update changes nothing that it was given`, () => {
    const batch = form.batch(2);
    const before = numbersOf({ ...form.state, batch });
    step(form, batch);
    assertEquals(numbersOf({ ...form.state, batch }), before);
  });

  Deno.test(`${form.name}: many updates leave no tensor behind`, () => {
    const batch = form.batch(2);
    const scalars = scalarsOf(form.hyperparameters);
    let { state, stats, tdErrors } = form.update(form.state, batch, scalars);
    const count = tf.memory().numTensors;
    for (let i = 0; i < 3; i++) {
      const next = form.update(state, batch, scalars);
      disposeState(state);
      disposeParams(stats, { tdErrors });
      ({ state, stats, tdErrors } = next);
    }
    assertEquals(tf.memory().numTensors, count);
  });

  Deno.test(`${form.name}: weights of 1 are as none, discounts of gamma too`, () => {
    const batch = form.batch(2);
    const plain = step(form, batch);
    const same = step(form, {
      ...batch,
      weights: tf.onesLike(batch.rewards),
      discounts: tf.fill(batch.rewards.shape, 0.99),
    });
    assertEquals(numbersOf(same.state), numbersOf(plain.state));
    assertEquals(same.tdErrors.arraySync(), plain.tdErrors.arraySync());
  });

  testApart(
    `${form.name}: a weight counts like as many rows for the critics`,
    () => {
      const batch = form.batch(2);
      const drawn = [0, 0, 2, 3, 5, 5];
      const counts = [2, 0, 1, 1, 0, 2];
      const rows = tf.tensor1d(drawn, "int32");
      const repeated: Params = {};
      for (const name in batch) {
        repeated[name] = gathered(
          name,
          batch[name],
          rows,
        );
      }
      const weighted = step(form, { ...batch, weights: tf.tensor1d(counts) });
      const ofRows = step(form, repeated);
      const critics = [weighted, ofRows].map(({ state }) =>
        numbersOf({ critics: state.critics })
      );
      assert(deviation(critics[0], critics[1]) < 1e-6);
      const unweighted = numbersOf({
        critics: step(form, batch).state.critics,
      });
      assert(deviation(unweighted, critics[1]) > 1e-4);
    },
  );

  testApart(
    `${form.name}: what comes after a terminated row does not count`,
    () => {
      const batch = form.batch(2);
      const other = tf.add(batch.nextObservations, 1);
      const errors = (terminated: number, nextObservations: tf.Tensor) => {
        const flags = tf.fill(batch.rewards.shape, terminated);
        const given = { ...batch, terminated: flags, nextObservations };
        return step(form, given).tdErrors.arraySync();
      };
      assertEquals(errors(1, other), errors(1, batch.nextObservations));
      const changed = errors(0, other);
      const unchanged = errors(0, batch.nextObservations);
      assert(unchanged.some((it, i) => it !== changed[i]));
    },
  );

  Deno.test(`${form.name}: a discount of 0 is as terminated`, () => {
    const batch = form.batch(2);
    const zeros = tf.zerosLike(batch.rewards);
    const ones = tf.onesLike(batch.rewards);
    const [discounted, terminated] = [
      { terminated: zeros, discounts: zeros },
      { terminated: ones, discounts: ones },
    ].map((ends) => step(form, { ...batch, ...ends }));
    assertEquals(numbersOf(discounted.state), numbersOf(terminated.state));
  });

  testApart(
    `${form.name}: what comes after a row is the target networks' to say`,
    () => {
      const batch = form.batch(2);
      const errors = (targets: Params) =>
        step(form, batch, { ...form.state, targets }).tdErrors.arraySync();
      const { targets } = form.state;
      const changed = errors(mapParams(targets, (it) => tf.add(it, 0.5)));
      const ends = batch.terminated.dataSync();
      const same = errors(targets).map((it, i) => it === changed[i]);
      assert(same.every((it, i) => it || ends[i] === 0));
      assert(same.some((it) => !it));
    },
  );

  Deno.test(`${form.name}: scaled rewards are rewards that are larger`, () => {
    const batch = form.batch(2);
    const scalars = scalarsOf({ ...form.hyperparameters, rewardScale: 4 });
    const scaled = form.update(form.state, batch, scalars);
    const larger = form.update(form.state, {
      ...batch,
      rewards: tf.mul(batch.rewards, 4),
    }, { ...scalars, rewardScale: tf.scalar(1) });
    assertEquals(numbersOf(scaled.state), numbersOf(larger.state));
  });

  testApart(
    `${form.name}: targets stay where tau is 0, and follow where it is 1`,
    () => {
      const batch = form.batch(2);
      const targetsAt = (tau: number) => {
        const scalars = scalarsOf({ ...form.hyperparameters, tau });
        const { state } = form.update(form.state, batch, scalars);
        return { targets: state.targets, source: state.value ?? state.critics };
      };
      const kept = numbersOf({ targets: form.state.targets });
      assertEquals(numbersOf({ targets: targetsAt(0).targets }), kept);
      const { targets, source } = targetsAt(1);
      assert(deviation(numbersOf({ targets: source }), kept) > 1e-3);
      const moved = numbersOf({ targets });
      assert(deviation(moved, numbersOf({ targets: source })) < 1e-6);
    },
  );
}
