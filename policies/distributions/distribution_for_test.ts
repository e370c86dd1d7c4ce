import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import type { BoxSpace, Space } from "@bellman/types";
import { distributionFor } from "./distribution_for.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const BOX: BoxSpace = {
  type: "box",
  shape: [2, 3],
  low: -1,
  high: 1,
  dtype: "float32",
};

const FAMILIES: [Space, number, number[], "int32" | "float32"][] = [
  [{ type: "discrete", n: 4 }, 4, [], "int32"],
  [{ type: "multiDiscrete", nvec: [3, 2] }, 5, [2], "int32"],
  [{ type: "multiBinary", n: 3 }, 3, [3], "int32"],
  [BOX, 12, [2, 3], "float32"],
  [{ ...BOX, dtype: "float64", shape: [] }, 2, [], "float32"],
];

for (const [space, parameterSize, actionShape, actionDtype] of FAMILIES) {
  Deno.test(`${space.type} actions have their distribution`, () => {
    const distribution = distributionFor(space);
    assertEquals(distribution.parameterSize, parameterSize);
    assertEquals(distribution.actionShape, actionShape);
    assertEquals(distribution.actionDtype, actionDtype);
  });
}

Deno.test("box actions are squashed where that is wanted", () => {
  const noise = tf.fill([1, 6], 9) as tf.Tensor2D;
  const actions = distributionFor(BOX, { squashed: true })
    .sample(tf.zeros([1, 12]), noise);
  assertEquals(actions.shape, [1, 2, 3]);
  assertAlmostEquals(actions.dataSync()[0], Math.tanh(9));
});

Deno.test("actions without a distribution are refused", () => {
  assertRefused({
    "TypeError: Cannot choose a distribution for dict actions": () =>
      distributionFor({ type: "dict", spaces: { a: BOX } }),
    "TypeError: Cannot choose a distribution for tuple actions": () =>
      distributionFor({ type: "tuple", spaces: [BOX] }),
    "TypeError: use multiDiscrete": () =>
      distributionFor({ ...BOX, dtype: "uint8" }),
    "RangeError: Cannot squash actions to the bound Infinity": () =>
      distributionFor({ ...BOX, high: Infinity }, { squashed: true }),
  });
});
