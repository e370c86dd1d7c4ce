import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { arms } from "../models/arms.ts";
import { linear } from "../models/linear.ts";
import { crossFit, type FeatureRow } from "./cross_fit.ts";

const LOG: FeatureRow[] = Array.from({ length: 12 }, (_, i) => ({
  features: [1, i % 4],
  action: i % 2,
  reward: i % 2 === 0 ? 2 * (i % 4) : 1,
  propensity: 0.5,
  target: [0.5, 0.5],
}));

Deno.test("a row is predicted by a model of the other parts", () => {
  const before = crossFit(LOG, linear(), { folds: 3 });
  for (const part of [0, 1, 2]) {
    // Rewards of a part change no prediction of the part.
    const changed = LOG.map((it, i) =>
      i % 3 === part ? { ...it, reward: 99 } : it
    );
    const after = crossFit(changed, linear(), { folds: 3 });
    before.forEach(({ predicted }, i) => {
      const isEqual = predicted.every((it, k) => it === after[i].predicted[k]);
      assertEquals(isEqual, i % 3 === part, `row ${i}, part ${part}`);
    });
  }
});

Deno.test("rows without reward are predicted, and not learned", () => {
  const some = LOG.map((it, i) => i === 5 ? { ...it, reward: undefined } : it);
  const [with5, without] = [crossFit(LOG, linear()), crossFit(some, linear())];
  assertEquals(without[5].predicted, with5[5].predicted);
  assert(without[6].predicted[1] !== with5[6].predicted[1]);
});

Deno.test("a shared model takes the features of each action", () => {
  const log = LOG.map((it) => ({
    ...it,
    features: [[1, 0], [0, 1]],
    reward: it.action === 0 ? 3 : 5,
  }));
  const model = linear({ shared: true, lambda: 1e-6 });
  for (const { predicted } of crossFit(log, model)) {
    assertAlmostEquals(predicted[0], 3, 1e-3);
    assertAlmostEquals(predicted[1], 5, 1e-3);
  }
});

Deno.test("rows may have unequal numbers of actions", () => {
  const log = LOG.map((it, i) => ({
    ...it,
    features: [[1, 0], [0, 1], [1, 1]].slice(0, 2 + i % 2),
    reward: it.action === 0 ? 3 : 5,
    target: i % 2 === 0 ? [0.5, 0.5] : [0, 0.5, 0.5],
  }));
  const rows = crossFit(log, linear({ shared: true, lambda: 1e-6 }));
  rows.forEach(({ predicted, target }) => {
    assertEquals(predicted.length, target.length);
    [3, 5, 8].slice(0, target.length)
      .forEach((it, k) => assertAlmostEquals(predicted[k], it, 1e-3));
  });
});

Deno.test("arms predict means, whatever the features are", () => {
  const log = LOG.map((it) => ({ ...it, reward: it.action }));
  for (const { predicted } of crossFit(log, arms({ lambda: 0 }))) {
    assertAlmostEquals(predicted[0], 0, 1e-12);
    assertAlmostEquals(predicted[1], 1, 1e-12);
  }
});

Deno.test("rows that do not fit are refused, by their index", () => {
  const cases: [FeatureRow, string][] = [
    [
      { ...LOG[0], features: [1] },
      "Row 12: Cannot take 1 features: expected 2",
    ],
    [{ ...LOG[0], features: [1, NaN] }, "Row 12: Cannot take NaN as feature 1"],
    [{ ...LOG[0], reward: Infinity }, "Row 12: Cannot learn a reward of Inf"],
    [{ ...LOG[0], action: 2 }, "Row 12: Unknown action '2'"],
  ];
  for (const [row, message] of cases) {
    assertThrows(() => crossFit([...LOG, row], linear()), Error, message);
  }
  assertThrows(
    () => crossFit(LOG, linear(), { folds: 1 }),
    RangeError,
    "folds 1",
  );
  assertEquals(crossFit([], linear()), []);
});
