/** What the playground offers is learned: each environment by each algorithm, on five seeds. */
import { TASKS } from "../../site/playground/tasks.ts";
import { assertLearns } from "../../site/playground/testdata/with_run.ts";

for (const [env, { presets }] of Object.entries(TASKS)) {
  for (const algorithm of Object.keys(presets)) {
    Deno.test(`the playground's ${algorithm} learns ${env} on 5 of 5 seeds`, async () => {
      for (let seed = 0; seed < 5; seed++) {
        await assertLearns({ env, algorithm, settings: { seed } });
      }
    });
  }
}
