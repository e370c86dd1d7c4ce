import { assertAlmostEquals } from "@std/assert";
import { adamTf1 } from "./adam_tf1.ts";
import { selectBackend } from "./backend.ts";
import { runSteps } from "./testdata/run_steps.ts";

await selectBackend("cpu");

const GRADIENTS = [2, -1, 0.5, 0.25];

Deno.test("TF1's Adam corrects the rate and not the root", () => {
  for (const epsilon of [1e-8, 0.5]) {
    const values = runSteps(adamTf1({ epsilon }), GRADIENTS);
    let m = 0, v = 0, w = 0;
    GRADIENTS.forEach((g, i) => {
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      const rate = 0.1 * Math.sqrt(1 - 0.999 ** (i + 1)) / (1 - 0.9 ** (i + 1));
      w -= rate * m / (Math.sqrt(v) + epsilon);
      assertAlmostEquals(values[i], w, 1e-6);
    });
  }
});
