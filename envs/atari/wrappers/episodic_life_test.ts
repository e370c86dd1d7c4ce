import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { checkEnv } from "../../check_env.ts";
import { TimeLimit } from "../../wrappers/time_limit.ts";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import {
  plainGame,
  ScriptedAtari,
  scriptedGames,
} from "../testdata/scripted_atari.ts";
import { EpisodicLife } from "./episodic_life.ts";

/** Ten frames; a life is lost in the third and in the sixth. */
const GAME = plainGame(10, { livesAt: (it) => it < 3 ? 3 : it < 6 ? 2 : 1 });

/** Steps until an end, and how it was told. */
function episode(env: EpisodicLife): { steps: number; flags: boolean[] } {
  for (let steps = 1;; steps++) {
    const { terminated, truncated } = env.step(3);
    if (terminated || truncated) {
      return { steps, flags: [terminated, truncated] };
    }
  }
}

Deno.test("each life is an episode of its own, in one game", () => {
  const game = new ScriptedAtari([GAME]);
  const env = new EpisodicLife(game);
  const seen: unknown[] = [];
  env.reset({ seed: 0 });
  for (let life = 0; life < 3; life++) {
    seen.push([episode(env).steps, game.games]);
    env.reset();
  }
  // After a loss a step without an action goes on; at the end comes a new game.
  assertEquals(seen, [[3, 1], [2, 1], [3, 1]]);
  assertEquals(game.games, 2);
  assertEquals(
    game.log,
    ["reset", 3, 3, 3, 0, 3, 3, 0, 3, 3, 3, "reset"],
  );
});

Deno.test("a life that is lost is terminated, a time limit truncated", () => {
  const flags = (end: "terminated" | "truncated", lives: number) => {
    const game = new ScriptedAtari([
      { lives: 2, frames: [{ reward: 0, lives, end }] },
    ]);
    const env = new EpisodicLife(game);
    env.reset({ seed: 0 });
    const told = episode(env).flags;
    // Either way it is the end of the game itself.
    env.reset();
    assertEquals(game.games, 2);
    return told;
  };
  assertEquals(flags("truncated", 2), [false, true]);
  assertEquals(flags("terminated", 2), [true, false]);
  assertEquals(flags("truncated", 1), [true, true]);
});

Deno.test("no lives left is not yet the end: the game itself tells it", () => {
  const game = new ScriptedAtari([
    plainGame(5, { livesAt: (it) => it < 2 ? 1 : 0 }),
  ]);
  const env = new EpisodicLife(game);
  env.reset({ seed: 0 });
  assertEquals(episode(env).steps, 5);
});

Deno.test("a game that ends in the step after a loss is followed by a new one", () => {
  const game = new ScriptedAtari([
    plainGame(4, { livesAt: (it) => it < 3 ? 2 : 1 }),
    GAME,
  ]);
  const env = new EpisodicLife(game);
  env.reset({ seed: 0 });
  assertEquals(episode(env).steps, 3);
  assertEquals(env.reset(), ScriptedAtari.view(1, 0));
  assertEquals(episode(env).steps, 3);
});

Deno.test("a reset in the midst of a life, or with a seed, begins a new game", () => {
  const game = new ScriptedAtari([GAME]);
  const env = new EpisodicLife(new TimeLimit(game, 1000));
  env.reset({ seed: 0 });
  env.step(3);
  env.reset();
  assertEquals(game.games, 2);
  episode(env);
  env.reset({ seed: 0 });
  assertEquals(game.log.at(-1), "reset");
  // Its lives are counted anew.
  assertEquals(episode(env).steps, 3);
});

Deno.test("a limit around it is the end of the game, too", () => {
  const game = new ScriptedAtari([GAME]);
  const env = new TimeLimit(new EpisodicLife(game), 2);
  env.reset({ seed: 0 });
  env.step(3);
  assertEquals(env.step(3).truncated, true);
  assertEquals(env.reset(), ScriptedAtari.view(1, 0));
});

Deno.test("no step is taken between two lives", () => {
  const env = new EpisodicLife(new ScriptedAtari([GAME]));
  env.reset({ seed: 0 });
  episode(env);
  assertThrows(() => env.step(0), Error, "a life was lost in the step before");
});

Deno.test("every episode lies in one game, and every game is played to its end", () => {
  fc.assert(fc.property(scriptedGames, (games) => {
    const game = new ScriptedAtari(games);
    const env = new EpisodicLife(game);
    env.reset({ seed: 0 });
    for (let i = 0; i < 200; i++) {
      const before = game.games;
      const { terminated, truncated, observation } = env.step(3);
      assertEquals(game.games, before);
      assertEquals((observation as Uint8Array)[0], (before - 1) % 256);
      if (!terminated && !truncated) continue;
      const length = game.log.length;
      env.reset();
      const [first, ...rest] = game.log.slice(length);
      // A step in the same game, or a game that ended and a new one.
      if (first === 0) assert(rest.length === 0 || rest[0] === "reset");
      else assertEquals([first, rest], ["reset", []]);
      if (first === 0) assert(!truncated);
    }
  }));
});

Deno.test("a game whose first action does something does not go on by itself", () => {
  const game = new ScriptedAtari([GAME], ["FIRE", "RIGHT"]);
  assertThrows(() => new EpisodicLife(game), TypeError, "action 0 is FIRE");
});

Deno.test("it is a sound environment", () => {
  checkEnv(new EpisodicLife(new ScriptedAtari([GAME, plainGame(4)])));
});

testSnapshot(
  "EpisodicLife",
  () => new EpisodicLife(new ScriptedAtari([GAME, plainGame(4)])),
);
