import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { checkEnv } from "../../check_env.ts";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import { ChainEnv } from "../../toy/environments.ts";
import { TimeLimit } from "../../wrappers/time_limit.ts";
import {
  plainGame,
  ScriptedAtari,
  scriptedGames,
} from "../testdata/scripted_atari.ts";
import { EpisodicLife, FireReset, NoopReset } from "./resets.ts";

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

Deno.test("FIRE and the next action are pressed after each reset", () => {
  const game = new ScriptedAtari([plainGame(9)]);
  const env = new FireReset(new TimeLimit(game, 100));
  assertEquals(env.reset({ seed: 0 }), ScriptedAtari.view(0, 2));
  env.step(3);
  assertEquals(env.reset(), ScriptedAtari.view(1, 2));
  assertEquals(game.log, ["reset", 1, 2, 3, "reset", 1, 2]);
});

Deno.test("FIRE may stand anywhere; a game without it is left as it is", () => {
  const cases = [
    [["NOOP", "UP", "FIRE", "DOWN"], [2, 3]],
    [["NOOP", "FIRE"], [1]],
    [["NOOP", "UP", "UPFIRE"], []],
  ] as const;
  for (const [meanings, pressed] of cases) {
    const game = new ScriptedAtari([plainGame(9)], [...meanings]);
    new FireReset(game).reset({ seed: 0 });
    assertEquals(game.log, ["reset", ...pressed]);
  }
});

Deno.test("a game that ends while FIRE is pressed is followed by a new one", () => {
  const cases = [
    [1, ["reset", 1, "reset", 2]],
    [2, ["reset", 1, 2, "reset"]],
  ] as const;
  for (const [length, log] of cases) {
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
  assertEquals(game.log, ["reset", 3, 3, 3, 0, 3, 3, 0, 3, 3, 3, "reset"]);
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
