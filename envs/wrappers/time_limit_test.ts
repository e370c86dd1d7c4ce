import { assertEquals } from "@std/assert";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/environments.ts";
import { TimeLimit } from "./time_limit.ts";

function flags(length: number, limit: number): [boolean, boolean][] {
  const env = new TimeLimit(new ChainEnv({ length }), limit);
  env.reset({ seed: 0 });
  const seen: [boolean, boolean][] = [];
  for (;;) {
    const { terminated, truncated } = env.step(0);
    seen.push([terminated, truncated]);
    if (terminated || truncated) return seen;
  }
}

Deno.test("the limit truncates, the task terminates, both can come at once", () => {
  assertEquals(flags(9, 2), [[false, false], [false, true]]);
  assertEquals(flags(2, 9), [[false, false], [true, false]]);
  assertEquals(flags(2, 2), [[false, false], [true, true]]);
});

Deno.test("each episode has the whole limit", () => {
  const env = new TimeLimit(new ChainEnv({ length: 9 }), 3);
  env.reset({ seed: 0 });
  env.step(0);
  env.step(0);
  env.reset();
  assertEquals(env.step(0).truncated, false);
  assertEquals(env.step(0).truncated, false);
  assertEquals(env.step(0).truncated, true);
});

testSnapshot("TimeLimit", () => new TimeLimit(new ChainEnv({ length: 9 }), 4));
