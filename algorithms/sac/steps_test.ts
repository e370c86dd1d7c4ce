import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { sacDiagnostics } from "./steps.ts";

await tf.setBackend("cpu");

Deno.test("each number is that of its own Q function", () => {
  const diagnostics = sacDiagnostics({
    qf1: tf.tensor1d([1, 3, 5]),
    qf2: tf.tensor1d([2, 2, -1]),
    targets: tf.tensor1d([0, 3, 4]),
  });
  const expected = {
    "qf1-avg": 3,
    "qf1-std": Math.sqrt(8 / 3),
    "qf2-avg": 1,
    "qf2-std": Math.sqrt(2),
    "mean-qf-diff": 8 / 3,
    "mean-sq-bellman-error1": 1 / 3,
    "mean-sq-bellman-error2": 5,
  };
  assertEquals(Object.keys(diagnostics), Object.keys(expected));
  for (const [name, number] of Object.entries(expected)) {
    const found = diagnostics[name as keyof typeof expected].arraySync();
    assertAlmostEquals(found, number, 1e-6, name);
  }
});
