import { assertEquals, assertThrows } from "@std/assert";
import { ChainEnv } from "../../toy/chain_env.ts";
import { TimeLimit } from "../../wrappers/time_limit.ts";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import { plainGame, ScriptedAtari } from "../testdata/scripted_atari.ts";
import { FireReset } from "./fire_reset.ts";

Deno.test("FIRE and the next action are pressed after each reset", () => {
  const game = new ScriptedAtari([plainGame(9)]);
  const env = new FireReset(new TimeLimit(game, 100));
  assertEquals(env.reset({ seed: 0 }), ScriptedAtari.view(0, 2));
  env.step(3);
  assertEquals(env.reset(), ScriptedAtari.view(1, 2));
  assertEquals(game.log, ["reset", 1, 2, 3, "reset", 1, 2]);
});

Deno.test("FIRE may stand anywhere; a game without it is left as it is", () => {
  for (
    const [meanings, pressed] of [
      [["NOOP", "UP", "FIRE", "DOWN"], [2, 3]],
      [["NOOP", "FIRE"], [1]],
      [["NOOP", "UP", "UPFIRE"], []],
    ] as const
  ) {
    const game = new ScriptedAtari([plainGame(9)], [...meanings]);
    new FireReset(game).reset({ seed: 0 });
    assertEquals(game.log, ["reset", ...pressed]);
  }
});

Deno.test("a game that ends while FIRE is pressed is followed by a new one", () => {
  for (
    const [length, log] of [
      [1, ["reset", 1, "reset", 2]],
      [2, ["reset", 1, 2, "reset"]],
    ] as const
  ) {
    const game = new ScriptedAtari([plainGame(length), plainGame(9)]);
    const frames = log.length - 1 - log.lastIndexOf("reset");
    assertEquals(
      new FireReset(game).reset({ seed: 0 }),
      ScriptedAtari.view(1, frames),
    );
    assertEquals(game.log, [...log]);
  }
});

Deno.test("an environment that is no Atari game is refused", () => {
  assertThrows(
    () => new FireReset(new ChainEnv()),
    TypeError,
    "Cannot wrap an environment with FireReset: expected an Atari game",
  );
});

testSnapshot(
  "FireReset",
  () => new FireReset(new ScriptedAtari([plainGame(9), plainGame(4)])),
);
