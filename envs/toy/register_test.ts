import { assertEquals, assertThrows } from "@std/assert";
import { envSpec, make, makeVec } from "../registry/registry.ts";
import { box } from "../spaces/constructors.ts";
import "./register.ts";

Deno.test("Toy environments are made by name with their options", () => {
  assertEquals(envSpec("Identity-v0").maxEpisodeSteps, 100);
  const actionSpace = box({ low: -1, high: 1, shape: [2] });
  const kwargs = JSON.parse(JSON.stringify({ actionSpace }));
  assertEquals(make("Identity-v0", { kwargs }).actionSpace, actionSpace);
  const bandit = make("Bandit-v0", { kwargs: { means: [1, 2] } });
  bandit.reset({ seed: 0 });
  assertEquals(bandit.step(1).reward, 2);
  const chain = makeVec("Chain-v0", { numEnvs: 2, kwargs: { length: 1 } });
  chain.reset({ seed: 0 });
  assertEquals([...chain.step(Int32Array.of(0, 0)).terminated], [1, 1]);
});

Deno.test("Options that make no sense are refused", () => {
  const cases: [string, Record<string, unknown>, string][] = [
    ["Chain-v0", { size: 3 }, "with 'size': its options are length, endless"],
    ["Chain-v0", { length: "3" }, 'with length "3": expected a number'],
    ["Chain-v0", { length: -3 }, "chain of -3 steps"],
    ["Chain-v0", { endless: 1 }, "with endless 1: expected true or false"],
    ["Bandit-v0", { means: 1 }, "with means 1: expected a list of numbers"],
    ["Identity-v0", { actionSpace: 4 }, "with actionSpace 4: expected a space"],
    ["Identity-v0", { actionSpace: { type: "discrete", n: 0 } }, "of 0"],
  ];
  for (const [id, kwargs, message] of cases) {
    assertThrows(() => make(id, { kwargs }), Error, message);
  }
});
