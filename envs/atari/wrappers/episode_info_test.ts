import type { EpisodeStatistics } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { makeVec } from "../../mod.ts";
import { SyncVecEnv } from "../../sync_vec_env.ts";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import { ChainEnv } from "../../toy/environments.ts";
import { RecordEpisodeStatistics } from "../../wrappers/record_episode_statistics.ts";
import { ClipReward } from "../../wrappers/transforms.ts";
import {
  plainGame,
  ScriptedAtari,
  type ScriptedGame,
  scriptedGames,
} from "../testdata/scripted_atari.ts";
import type { GameStatistics } from "./game_rules.ts";
import { EpisodeInfo, GameLimit, InfoClear } from "./episode_info.ts";
import { EpisodicLife, FireReset } from "./resets.ts";

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
  const env = new RecordEpisodeStatistics(
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

/** Ten frames with rewards from 1 to 10; a life is lost in the third. */
const LIMITED_GAME = plainGame(10, { livesAt: (it) => it < 3 ? 2 : 1 });

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
  const { game, env } = limited([LIMITED_GAME], 1);
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
  const { env } = limited([LIMITED_GAME], 5);
  assertThrows(() => new GameLimit(env, 0), RangeError, "to 0 steps");
});

testSnapshot(
  "GameLimit",
  () => limited([LIMITED_GAME, plainGame(2), plainGame(30)], 7).env,
);

const game = () => new ScriptedAtari([plainGame(3, { livesAt: () => 2 })]);

Deno.test("only what is kept stays", () => {
  const infoOf = (env: InfoClear) => {
    env.reset({ seed: 0 });
    return env.step(0).info;
  };
  assertEquals(infoOf(new InfoClear(game())), undefined);
  assertEquals(infoOf(new InfoClear(new EpisodeInfo(game()))), {
    episodes: [],
  });
  const keep = ["lives", "nothing"];
  assertEquals(infoOf(new InfoClear(game(), { keep })), { lives: 2 });
});

Deno.test("wrappers around it still know the lives", () => {
  const livesAt = (frame: number) => frame < 2 ? 3 : 2;
  const inner = new ScriptedAtari([plainGame(5, { livesAt })]);
  const env = new EpisodicLife(new InfoClear(inner));
  env.reset({ seed: 0 });
  assertEquals([env.step(0).terminated, env.step(0).terminated], [false, true]);
});

testSnapshot("InfoClear", () => new InfoClear(game()));
