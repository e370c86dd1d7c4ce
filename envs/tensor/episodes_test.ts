import { assertEquals } from "@std/assert";
import { selectBackend } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { beginEpisodes, stepEpisodes, type TensorEnv } from "./episodes.ts";

await selectBackend("cpu");

/** Counts from a start of its own; ends at 3 and rewards each step by 2. */
const COUNTER: TensorEnv = {
  id: "Counter-v0",
  observationSpace: { type: "discrete", n: 4 },
  actionSpace: { type: "discrete", n: 1 },
  startSize: 1,
  start: (uniform) => ({ count: tf.floor(tf.reshape(uniform, [-1])) }),
  step({ count }) {
    const next = tf.add(count, 1);
    return {
      state: { count: next },
      rewards: tf.fill(next.shape, 2),
      terminated: tf.greaterEqual(next, 3),
    };
  },
  observe: ({ count }) => tf.cast(count, "int32"),
};

const numbers = (it: tf.Tensor) => [...it.dataSync()];

Deno.test("episodes that end begin anew, and are counted to their end", () => {
  let episodes = beginEpisodes(COUNTER, tf.tensor2d([[0, 1, -5]]));
  const seen = [];
  for (let i = 0; i < 4; i++) {
    const step = stepEpisodes(COUNTER, episodes, {
      actions: tf.zeros([3], "int32"),
      uniform: tf.tensor2d([[0, 0, 2]]),
      maxEpisodeSteps: 3,
    });
    episodes = step.episodes;
    const { last, terminated, truncated, lengths, returns } = step;
    const { count } = episodes.state;
    seen.push(
      [last.count, count, terminated, truncated, lengths, returns].map(numbers),
    );
  }
  // Counts at last and now, both ends, lengths and returns.
  assertEquals(seen, [
    [[1, 2, -4], [1, 2, -4], [0, 0, 0], [0, 0, 0], [1, 1, 1], [2, 2, 2]],
    [[2, 3, -3], [2, 0, -3], [0, 1, 0], [0, 0, 0], [2, 2, 2], [4, 4, 4]],
    // Both at once, and a time limit alone.
    [[3, 1, -2], [0, 1, 2], [1, 0, 0], [1, 0, 1], [3, 1, 3], [6, 2, 6]],
    [[1, 2, 3], [1, 2, 2], [0, 0, 1], [0, 0, 0], [1, 2, 1], [2, 4, 2]],
  ]);
});

Deno.test("without a time limit nothing is truncated", () => {
  const { truncated } = stepEpisodes(
    COUNTER,
    beginEpisodes(COUNTER, tf.zeros([1, 2])),
    { actions: tf.zeros([2], "int32"), uniform: tf.zeros([1, 2]) },
  );
  assertEquals(numbers(truncated), [0, 0]);
});
