import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { makeVec } from "../../mod.ts";
import { SyncVecEnv } from "../../sync_vec_env.ts";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import type { EpisodeStatistics } from "@bellman/types";
import { VecRecordEpisodeStatistics } from "../../wrappers/record_episode_statistics.ts";
import { ClipReward } from "../../wrappers/transform_reward.ts";
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

const GAME = plainGame(10, { livesAt: (it) => it < 3 ? 3 : it < 6 ? 2 : 1 });

/** What baselines puts around a game, in its order. */
const stack = (games: readonly ScriptedGame[]) =>
  new ClipReward(
    new FireReset(new EpisodicLife(new EpisodeInfo(new ScriptedAtari(games)))),
  );

function toldIn(info: Readonly<Record<string, unknown>> | undefined) {
  return info?.episodes as GameStatistics[];
}

Deno.test("a game tells its score and that of each life when it ends", () => {
  const env = new EpisodeInfo(new ScriptedAtari([GAME]));
  env.reset({ seed: 0 });
  for (let i = 0; i < 9; i++) assertEquals(toldIn(env.step(0).info), []);
  assertEquals(toldIn(env.step(0).info), [{
    return: 55,
    length: 10,
    terminated: true,
    lifeReturns: [1 + 2 + 3, 4 + 5 + 6, 7 + 8 + 9 + 10],
  }]);
});

Deno.test("a game cut off by its time limit is told as such", () => {
  const frames = [
    { reward: 2, lives: 2 },
    { reward: 3, lives: 1, end: "truncated" as const },
  ];
  const env = new EpisodeInfo(new ScriptedAtari([{ lives: 2, frames }]));
  env.reset({ seed: 0 });
  env.step(0);
  assertEquals(toldIn(env.step(0).info), [
    { return: 5, length: 2, terminated: false, lifeReturns: [5] },
  ]);
});

Deno.test("a game is cut off once, and only while it is under way", () => {
  const env = new EpisodeInfo(new ScriptedAtari([plainGame(3)]));
  assertEquals(env.cutOff(), undefined);
  env.reset({ seed: 0 });
  env.step(0);
  env.step(0);
  const restored = new EpisodeInfo(new ScriptedAtari([plainGame(3)]));
  restored.load(env.save());
  const cutOff = { return: 1 + 2, length: 2, terminated: false };
  for (const it of [env, restored]) {
    assertEquals(it.cutOff(), { ...cutOff, lifeReturns: [3] });
    assertEquals(it.cutOff(), undefined);
  }
  env.reset();
  for (let i = 0; i < 3; i++) env.step(0);
  assertEquals(env.cutOff(), undefined);
});

/** Scores of games, counted by frames. */
function scoreOf({ frames }: ScriptedGame): { return: number; length: number } {
  const end = frames.findIndex(({ end }) => end !== undefined);
  const played = end < 0 ? frames : frames.slice(0, end + 1);
  return {
    return: played.reduce((sum, { reward }) => sum + reward, 0),
    length: played.length,
  };
}

Deno.test("the true scores are told under lives, FIRE and clipped rewards", () => {
  fc.assert(fc.property(scriptedGames, (games) => {
    const env = stack(games);
    const told: GameStatistics[] = [];
    env.reset({ seed: 0 });
    for (let i = 0; i < 200; i++) {
      const { terminated, truncated, info } = env.step(3);
      told.push(...toldIn(info));
      if (terminated || truncated) env.reset();
    }
    told.forEach((game, i) => {
      const { return: total, length } = scoreOf(games[i % games.length]);
      assertEquals([game.return, game.length], [total, length]);
      assertEquals(game.lifeReturns.reduce((sum, it) => sum + it, 0), total);
    });
  }));
});

Deno.test("games of vector environments are told by row", () => {
  const env = new VecRecordEpisodeStatistics(
    new SyncVecEnv([[GAME], [plainGame(4), plainGame(13)]]
      .map((games) => () => stack(games))),
  );
  env.reset({ seed: 0 });
  const told: EpisodeStatistics[] = [];
  let ends = 0;
  for (let i = 0; i < 13; i++) {
    const { episodes, terminated } = env.step(Int32Array.of(3, 3));
    told.push(...episodes!);
    ends += terminated[0] + terminated[1];
  }
  assertEquals(
    told.map(({ env, return: total }) => [env, total]),
    [[1, 10], [0, 55], [0, 55], [0, 55], [1, 91]],
  );
  // More rows ended than games: lives were lost.
  assertEquals(ends > told.length, true);
});

Deno.test("environments that tell nothing are counted as before", () => {
  const env = makeVec("Chain-v0", {
    numEnvs: 1,
    maxEpisodeSteps: 1,
    recordEpisodes: false,
  });
  env.reset({ seed: 0 });
  assertEquals(env.step(Int32Array.of(0)).episodes, undefined);
});

testSnapshot(
  "EpisodeInfo",
  () => new EpisodeInfo(new ScriptedAtari([GAME, plainGame(4)])),
);
testSnapshot(
  "EpisodeInfo under lives and FIRE",
  () => stack([GAME, plainGame(2), plainGame(1), plainGame(3)]),
);
