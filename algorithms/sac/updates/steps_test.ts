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
    q1_mean: 3,
    q1_std: Math.sqrt(8 / 3),
    q2_mean: 1,
    q2_std: Math.sqrt(2),
    q_difference: 8 / 3,
    q1_bellman_error: 1 / 3,
    q2_bellman_error: 5,
  };
  assertEquals(Object.keys(diagnostics), Object.keys(expected));
  for (const [name, number] of Object.entries(expected)) {
    const found = diagnostics[name as keyof typeof expected].arraySync();
    assertAlmostEquals(found, number, 1e-6, name);
  }
});
