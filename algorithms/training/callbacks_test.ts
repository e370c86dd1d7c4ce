import { assertEquals, assertThrows } from "@std/assert";
import {
  type Callback,
  stopAfterSeconds,
  stopOnNoImprovement,
  stopOnRewardThreshold,
} from "./callbacks.ts";
import { summarizeEpisodes } from "./evaluate.ts";
import { FixedEnv } from "./testdata/fixed_env.ts";
import { ToyAlgorithm, ToyEnv } from "./testdata/toy.ts";
import { train } from "./train.ts";

/** Which of the evaluations, by their mean returns, ends the run. */
function endedBy(callback: Callback, means: number[]): number {
  return means.findIndex((mean) =>
    callback.onEvaluation!({} as never, summarizeEpisodes([mean], [1]))
  );
}

Deno.test("patience counts evaluations since the best one", () => {
  const means = [1, 2, 2, 1, 3, 2, 3, 1, 9];
  assertEquals(endedBy(stopOnNoImprovement({ patience: 2 }), means), 3);
  assertEquals(endedBy(stopOnNoImprovement({ patience: 3 }), means), 7);
  assertEquals(endedBy(stopOnNoImprovement(), means), -1);
  assertEquals(endedBy(stopOnNoImprovement({ patience: 1 }), [-5, -4, -4]), 2);
});

Deno.test("patience goes on over a resume", () => {
  const first = stopOnNoImprovement({ patience: 3 });
  assertEquals(endedBy(first, [5, 4, 4]), -1);
  const second = stopOnNoImprovement({ patience: 3 });
  second.load!(first.save!());
  assertEquals(endedBy(second, [4]), 0);
});

Deno.test("patience that cannot be is refused", () => {
  for (const patience of [0, 1.5]) {
    assertThrows(
      () => stopOnNoImprovement({ patience }),
      RangeError,
      `Cannot stop with patience ${patience}`,
    );
  }
});

Deno.test("a threshold ends a run in evaluation", async () => {
  const result = await train(new ToyAlgorithm(4), new ToyEnv(4), {
    totalTimesteps: 1000,
    evaluation: { env: new FixedEnv([7]), everyTimesteps: 40, episodes: 1 },
    callbacks: [stopOnRewardThreshold(7.5), stopOnRewardThreshold(7)],
  });
  assertEquals(result.step, 40);
  assertEquals(result.stopReason, "mean return 7 reached 7");
});

Deno.test("a time ends a run", async () => {
  let time = 0;
  const result = await train(new ToyAlgorithm(4), new ToyEnv(4), {
    totalTimesteps: 1000,
    now: () => time,
    callbacks: [{ onStep: () => void (time += 500) }, stopAfterSeconds(3)],
  });
  assertEquals([result.step, result.stopReason], [24, "3 seconds are over"]);
});
