import { assert, assertEquals, assertThrows } from "@std/assert";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import { plainGame, ScriptedAtari } from "../testdata/scripted_atari.ts";
import { NoopReset } from "./noop_reset.ts";

/** How many steps without an action each episode began with. */
function counts(max: number, { seed = 0, episodes = 300 } = {}): number[] {
  const game = new ScriptedAtari([plainGame(100)]);
  const env = new NoopReset(game, { max });
  return Array.from({ length: episodes }, (_, i) => {
    game.log.length = 0;
    env.reset(i === 0 ? { seed } : {});
    const [first, ...noops] = game.log;
    assertEquals(first, "reset");
    assert(noops.every((it) => it === 0));
    return noops.length;
  });
}

Deno.test("every number of no-ops from 1 to the most is drawn", () => {
  const drawn = new Set(counts(5));
  assertEquals([...drawn].sort(), [1, 2, 3, 4, 5]);
  assertEquals(new Set(counts(1)), new Set([1]));
  assertEquals(new Set(counts(0)), new Set([0]));
});

Deno.test("a seed gives the same starts, another seed others", () => {
  assertEquals(counts(30, { seed: 4 }), counts(30, { seed: 4 }));
  assert(`${counts(30, { seed: 4 })}` !== `${counts(30, { seed: 5 })}`);
});

Deno.test("what is seen comes after the no-ops", () => {
  const game = new ScriptedAtari([plainGame(100)]);
  const env = new NoopReset(game, { max: 7 });
  const observation = env.reset({ seed: 1 });
  assertEquals(observation, ScriptedAtari.view(0, game.log.length - 1));
});

Deno.test("a game that ends in the no-ops is followed by a new one", () => {
  const game = new ScriptedAtari([plainGame(2), plainGame(100)]);
  const env = new NoopReset(game, { max: 30 });
  // More than two no-ops: the first game ends in them.
  const seed = [...Array(50).keys()].find((it) =>
    counts(30, { seed: it, episodes: 1 })[0] === 5
  )!;
  assertEquals(env.reset({ seed }), ScriptedAtari.view(1, 3));
  assertEquals(game.log, ["reset", 0, 0, "reset", 0, 0, 0]);
  assertEquals(env.step(3).reward, 4);
});

Deno.test("a number of no-ops that cannot be is refused", () => {
  for (const max of [-1, 1.5, NaN]) {
    assertThrows(
      () => new NoopReset(new ScriptedAtari([]), { max }),
      RangeError,
      `Cannot begin with up to ${max} no-ops`,
    );
  }
});

Deno.test("a game whose first action does something has no no-ops", () => {
  const game = new ScriptedAtari([plainGame(9)], ["FIRE", "RIGHT"]);
  assertThrows(() => new NoopReset(game), TypeError, "action 0 is FIRE");
  const env = new NoopReset(game, { max: 0 });
  assertEquals(env.reset(), ScriptedAtari.view(0, 0));
});

testSnapshot(
  "NoopReset",
  () => new NoopReset(new ScriptedAtari([plainGame(9), plainGame(4)])),
);
