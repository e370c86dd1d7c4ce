import type { StateTree } from "@bellman/types";
import { assertEquals } from "@std/assert";
import { selectBackend } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { checkEnv, GridWorldEnv } from "../mod.ts";
import { GRID_WORLD } from "./grid_world.ts";

await selectBackend("cpu");

Deno.test("the environment on typed arrays keeps its promises", () => {
  checkEnv(new GridWorldEnv());
});

Deno.test("both are the same step by step, pictures included", () => {
  const uniform = fc.float({
    min: 0,
    max: 1,
    maxExcluded: true,
    noNaN: true,
    noDefaultInfinity: true,
  });
  const actions = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 });
  fc.assert(
    fc.property(uniform, uniform, actions, (first, second, actions) => {
      const env = new GridWorldEnv();
      env.reset({ seed: 0 });
      tf.tidy(() => {
        let state = GRID_WORLD.start(tf.tensor2d([[first], [second]]));
        const places = Object.values(state).map((it) => it.dataSync()[0]);
        const { random } = env.save() as Record<string, StateTree>;
        env.load({ fields: { isRunning: true, places }, random });
        for (const action of actions) {
          const step = env.step(action);
          const made = GRID_WORLD.step(state, tf.tensor1d([action], "int32"));
          const picture = GRID_WORLD.observe(made.state);
          assertEquals(picture.shape, [1, 40, 40, 3]);
          assertEquals(Uint8Array.from(picture.dataSync()), step.observation);
          assertEquals(made.rewards.dataSync()[0], step.reward);
          assertEquals(made.terminated.dataSync()[0] !== 0, step.terminated);
          if (step.terminated) break;
          state = made.state;
        }
      });
    }),
    { seed: 1, numRuns: 60 },
  );
});

Deno.test("agent and goal start in any two cells", () => {
  const places = new Set<string>();
  for (let i = 0; i < 25; i++) {
    for (let k = 0; k < 24; k++) {
      tf.tidy(() => {
        const state = GRID_WORLD.start(
          tf.tensor2d([[(i + 0.5) / 25], [(k + 0.5) / 24]]),
        );
        const [row, column, goalRow, goalColumn] = Object.values(state)
          .map((it) => it.dataSync()[0]);
        assertEquals(row === goalRow && column === goalColumn, false);
        places.add(`${row} ${column} ${goalRow} ${goalColumn}`);
      });
    }
  }
  assertEquals(places.size, 600);
});
