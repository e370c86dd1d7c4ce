import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import { ChainEnv } from "../../toy/chain_env.ts";
import type { GameStatistics } from "../_game_tally.ts";
import {
  plainGame,
  ScriptedAtari,
  type ScriptedGame,
  scriptedGames,
} from "../testdata/scripted_atari.ts";
import { EpisodeInfo } from "./episode_info.ts";
import { EpisodicLife } from "./episodic_life.ts";
import { FireReset } from "./fire_reset.ts";
import { GameLimit } from "./game_limit.ts";

/** Ten frames with rewards from 1 to 10; a life is lost in the third. */
const GAME = plainGame(10, { livesAt: (it) => it < 3 ? 2 : 1 });

function limited(games: readonly ScriptedGame[], limit: number) {
  const game = new ScriptedAtari(games);
  const lives = new EpisodicLife(new EpisodeInfo(game));
  return { game, env: new GameLimit(new FireReset(lives), limit) };
}

/** Steps, with a reset after each end; all that is told. */
function toldBy(env: GameLimit, steps: number): GameStatistics[] {
  env.reset({ seed: 0 });
  return Array.from({ length: steps }, () => {
    const { terminated, truncated, info } = env.step(3);
    if (terminated || truncated) env.reset();
    return info?.episodes as GameStatistics[];
  }).flat();
}

Deno.test("a game that is cut off is told, and another begins", () => {
  const { game, env } = limited([plainGame(10)], 2);
  // FIRE and what follows it take a frame each.
  const cutOff = { return: 1 + 2 + 3 + 4, length: 4, terminated: false };
  const told = { ...cutOff, lifeReturns: [10] };
  assertEquals(toldBy(env, 4), [told, told]);
  assertEquals(game.games, 3);
});

Deno.test("a limit at the end of a life or of the game cuts nothing off", () => {
  const { game, env } = limited([GAME], 1);
  env.reset({ seed: 0 });
  const { terminated, truncated, info } = env.step(3);
  assertEquals([terminated, truncated, info?.episodes], [true, true, []]);
  env.reset();
  assertEquals(game.games, 1);
  const short = limited([plainGame(3)], 1);
  assertEquals(toldBy(short.env, 1), [
    { return: 1 + 2 + 3, length: 3, terminated: true, lifeReturns: [6] },
  ]);
  const frames = [1, 2, 3].map((reward) => ({ reward, lives: 0 }));
  const atFrameLimit = limited([
    { lives: 0, frames: [...frames, { ...frames[0], end: "truncated" }] },
  ], 2);
  assertEquals(toldBy(atFrameLimit.env, 2).length, 1);
});

Deno.test("each game is told once, in the step in which it ends", () => {
  const limits = fc.integer({ min: 1, max: 12 });
  fc.assert(fc.property(scriptedGames, limits, (games, limit) => {
    const { game, env } = limited(games, limit);
    let told = 0, frames = 0;
    env.reset({ seed: 0 });
    for (let i = 0; i < 200; i++) {
      const { terminated, truncated, info } = env.step(3);
      for (const { length } of info?.episodes as GameStatistics[]) {
        told++;
        frames += length;
      }
      const [, , isOver] = game.save() as [number, number, boolean];
      const hasEnded = isOver || (truncated && !terminated);
      assertEquals(told, game.games - (hasEnded ? 0 : 1));
      const played = game.log.filter((it) => it !== "reset").length;
      if (hasEnded) assertEquals(frames, played);
      if (terminated || truncated) env.reset();
    }
  }));
});

Deno.test("without EpisodeInfo inside there is nothing to tell", () => {
  assertThrows(
    () => new GameLimit(new ChainEnv(), 5),
    TypeError,
    "Cannot wrap an environment with GameLimit: expected EpisodeInfo inside",
  );
  const { env } = limited([GAME], 5);
  assertThrows(() => new GameLimit(env, 0), RangeError, "to 0 steps");
});

testSnapshot(
  "GameLimit",
  () => limited([GAME, plainGame(2), plainGame(30)], 7).env,
);
