import { assertAlmostEquals, assertThrows } from "@std/assert";
import { selectBackend } from "../backends/select_backend.ts";
import { runSteps } from "../testdata/run_steps.ts";
import { sgd } from "./sgd.ts";

await selectBackend("cpu");

Deno.test("plain, with momentum, and Nesterov's form", () => {
  const gradients = [1, -2, 0.5];
  for (const [momentum, nesterov] of [[0, false], [0.9, false], [0.9, true]]) {
    const values = runSteps(
      sgd({ momentum: momentum as number, nesterov: nesterov as boolean }),
      gradients,
    );
    let velocity = 0, w = 0;
    gradients.forEach((g, i) => {
      velocity = Number(momentum) * velocity + g;
      w -= 0.1 * (nesterov ? g + Number(momentum) * velocity : velocity);
      assertAlmostEquals(values[i], w, 1e-6);
    });
  }
});

Deno.test("Nesterov's form needs a momentum", () => {
  assertThrows(() => sgd({ nesterov: true }), TypeError, "momentum = 0");
});
