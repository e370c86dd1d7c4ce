import { assertEquals, assertStrictEquals } from "@std/assert";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { chainOf } from "../testdata/chain_of.ts";
import { testSnapshot, testVecWrapper } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/environments.ts";
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

function chains(...lengths: number[]): RecordEpisodeStatistics<SyncVecEnv> {
  return new RecordEpisodeStatistics(
    new SyncVecEnv(
      lengths.map((length) => () => new TimeLimit(chainOf(length), 3)),
    ),
  );
}

Deno.test("each step tells the episodes that ended in it", () => {
  const env = chains(2, 9);
  env.reset({ seed: 0 });
  const step = () => env.step(new Int32Array(2)).episodes!;
  const none = step();
  assertEquals(none, []);
  assertEquals([...step()], [
    { env: 0, return: 2, length: 2, terminated: true },
  ]);
  assertEquals([...step()], [
    { env: 1, return: 3, length: 3, terminated: false },
  ]);
  assertEquals([...step()].length, 1);
  // Nothing is allocated where nothing ended.
  assertStrictEquals(step(), none);
});

Deno.test("a reset in mid-episode starts the sums anew", () => {
  const env = chains(2, 9);
  env.reset({ seed: 0 });
  env.step(new Int32Array(2));
  env.reset();
  env.step(new Int32Array(2));
  assertEquals(env.step(new Int32Array(2)).episodes, [
    { env: 0, return: 2, length: 2, terminated: true },
  ]);
});

testVecWrapper("RecordEpisodeStatistics of several", () => chains(2, 9, 4));
