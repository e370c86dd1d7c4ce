import { assertEquals } from "@std/assert";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/chain_env.ts";
import { RecordEpisodeStatistics } from "./record_episode_statistics.ts";
import { TimeLimit } from "./time_limit.ts";

const make = () =>
  new RecordEpisodeStatistics(new TimeLimit(new ChainEnv({ length: 4 }), 3));

Deno.test("the step that ends an episode has its sums, others have none", () => {
  const env = make();
  for (const episode of [1, 2]) {
    env.reset({ seed: episode });
    assertEquals([env.step(0).info, env.step(0).info], [undefined, undefined]);
    assertEquals(env.step(0).info?.episode, { return: 3, length: 3 });
  }
});

Deno.test("an episode that was left starts the sums anew", () => {
  const env = make();
  env.reset({ seed: 0 });
  env.step(0);
  env.reset();
  env.step(0);
  env.step(0);
  assertEquals(env.step(0).info?.episode, { return: 3, length: 3 });
});

testSnapshot("RecordEpisodeStatistics", make);
