import { assert, assertEquals, assertThrows } from "@std/assert";
import { makeVec } from "../registry/registry.ts";
import { AtariEnv } from "./atari_env.ts";
import { AtariVecEnv } from "./atari_vec_env.ts";
import { isAtariInstalled } from "./emulator/installed.ts";
import type { PreprocessingOptions } from "./preprocessing_options.ts";
import "./mod.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { playVec } from "../testdata/play.ts";
import { type FusedCase, testFused, wrapped } from "./testdata/fused_cases.ts";
import { assertSameBytes, assertSameCourse } from "./testdata/same_course.ts";
import { testVecWrapper } from "../testdata/wrapper_contract.ts";
import type { EpisodeStatistics, VecEnv } from "@bellman/types";
import { WorkerVecEnv } from "../workers/threads/worker_vec_env.ts";
import { TimeLimit } from "../wrappers/time_limit.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";

/** Nothing can be played where nobody ran install-atari. */
const ignore = !isAtariInstalled();
const test = testsWith("ALE", !ignore);

const COPIES = 2;
const SMALL = { width: 21, height: 30 };

function close(...envs: VecEnv[]): void {
  for (const env of envs) env.close();
}

/** Games and settings that take different ways; more are in `tests/long`. */
const CASES: readonly FusedCase[] = [
  [
    "ALE/Breakout-v5",
    { preset: "deepmind", fireReset: true, frameskip: 1 },
    50,
  ],
  ["ALE/Pong-v5", { preset: "gymnasium" }, 20],
  ["ALE/Breakout-v5", { preset: "machado" }, 40],
  ["space_invaders", { maximum: "gray", frameskip: 3, clipReward: false }, 60],
  ["ALE/Seaquest-v5", { stackAxis: "first", repeatActionProbability: 0.5 }, 40],
  ["ALE/Freeway-v5", { difficulty: 1, maxNumFramesPerEpisode: 97 }, 30],
];

for (const it of CASES) testFused(it);

test("fused, games that a limit of steps cuts off are told as by the wrappers", () => {
  // Lives are lost within the limit, and after it.
  const options = { maxEpisodeSteps: 45, size: SMALL };
  const id = "ALE/Breakout-v5";
  const fused = () => new AtariVecEnv(id, { ...options, numEnvs: COPIES });
  const [ours, theirs] = [fused(), wrapped(id, options)];
  ours.reset({ seed: 2 });
  theirs.reset({ seed: 2 });
  const first = assertSameCourse(ours, theirs, { steps: 150 });
  assert(first.games > COPIES && first.ended > first.games);
  const snapshots = [ours.save(), theirs.save()];
  const run = { steps: 60, seed: 3 };
  const expected = assertSameCourse(ours, theirs, run);
  assert(expected.games > 0);
  const others = [fused(), wrapped(id, options)] as const;
  others.forEach((env, i) => env.load(snapshots[i]));
  assertEquals(assertSameCourse(...others, run), expected);
  close(ours, theirs, ...others);
});

test("whole games are told with their true scores and those of the lives", () => {
  const env = new AtariVecEnv("ALE/SpaceInvaders-v5", {
    numEnvs: COPIES,
    size: SMALL,
  });
  env.reset({ seed: 0 });
  const told: EpisodeStatistics[] = [];
  let ended = 0, clipped = 0;
  while (told.length < 2) {
    const step = env.step(new Int32Array(COPIES).fill(1));
    told.push(...step.episodes!);
    clipped = Math.max(clipped, ...step.rewards);
    ended += step.terminated.reduce((sum, it) => sum + it, 0);
  }
  for (const game of told) {
    assert(game.terminated && game.length > 20);
    assertEquals(game.return % 5, 0);
    assertEquals(game.lifeReturns!.length, 3);
    const sum = game.lifeReturns!.reduce((total, it) => total + it, 0);
    assertEquals(sum, game.return);
  }
  // Points come in fives at least, and lives end more often than games.
  assertEquals(clipped, 1);
  assert(ended >= 3 * told.length);
  close(env);
});

test("by name, preprocessing has to be asked for", () => {
  const preprocessed = makeVec("ALE/Pong-v5", {
    numEnvs: 2,
    kwargs: { preprocessing: "baselines", size: SMALL },
    recordEpisodes: false,
  });
  assert(preprocessed instanceof AtariVecEnv);
  assertEquals(preprocessed.spec.id, "ALE/Pong-v5");
  const raw = makeVec("ALE/Pong-v5", { numEnvs: 1, recordEpisodes: false });
  assert(raw instanceof SyncVecEnv);
  const [limited] = raw.envs;
  assert(limited instanceof TimeLimit && limited.env instanceof AtariEnv);
  close(preprocessed, raw);
});

test("where episodes are recorded, they are the games", () => {
  const env = makeVec("ALE/Breakout-v5", {
    numEnvs: 1,
    maxEpisodeSteps: 300,
    kwargs: { preprocessing: "baselines", size: SMALL },
  });
  env.reset({ seed: 0 });
  const steps = playVec(env, 301) as { episodes: EpisodeStatistics[] }[];
  const [game] = steps.flatMap(({ episodes }) => episodes);
  assert(game.lifeReturns!.length >= 1);
  close(env);
});

test("in workers and in the calling thread, the numbers are the same", () => {
  const numEnvs = 3;
  const kwargs = {
    preprocessing: "baselines",
    size: SMALL,
    maxNumFramesPerEpisode: 90,
  };
  const hosted = new WorkerVecEnv({
    id: "ALE/Breakout-v5",
    kwargs,
    imports: [import.meta.resolve("./mod.ts")],
  }, { numEnvs, workers: 1, callerShare: true });
  const alone = makeVec("ALE/Breakout-v5", { numEnvs, kwargs });
  assertSameBytes(hosted.reset({ seed: 5 }), alone.reset({ seed: 5 }));
  const { games } = assertSameCourse(hosted, alone, { steps: 60 });
  assert(games >= numEnvs);
  const snapshots = [hosted.save(), alone.save()];
  hosted.reset();
  alone.reset();
  hosted.load(snapshots[0]);
  alone.load(snapshots[1]);
  assertSameCourse(hosted, alone, { steps: 20, seed: 1 });
  close(hosted, alone);
});

const make = () =>
  new AtariVecEnv("ALE/Breakout-v5", { numEnvs: 2, size: SMALL });

testVecWrapper("AtariVecEnv", make, { ignore, tag: " [ALE]" });

test("a snapshot of other settings is refused", () => {
  const made = (
    options: PreprocessingOptions & { maxEpisodeSteps?: number },
  ) => {
    const env = new AtariVecEnv("ALE/Pong-v5", { numEnvs: 1, ...options });
    env.reset({ seed: 0 });
    return env;
  };
  const env = made({}), before = env.save();
  const cases = [
    { size: { width: 30, height: 21 } },
    { repeatActionProbability: 0.5 },
    { frameskip: 3 },
    { maxEpisodeSteps: 9 },
  ];
  for (const options of cases) {
    const other = made(options);
    assertRefused({
      "TypeError: Cannot restore ALE/Pong-v5: the snapshot is of other settings":
        () => env.load(other.save()),
    });
    other.close();
  }
  assertEquals(env.save(), before);
  env.close();
});

test("a snapshot of another number of copies is refused", () => {
  const env = make();
  env.reset({ seed: 0 });
  const other = new AtariVecEnv("ALE/Breakout-v5", { numEnvs: 1, size: SMALL });
  assertRefused({
    "RangeError: Cannot restore 1 copy from a snapshot of 2": () =>
      other.load(env.save()),
  });
  close(env, other);
});

test("steps that cannot be are refused, and no copy takes one", () => {
  const env = make();
  const step = (...actions: number[]) => () =>
    env.step(Int32Array.from(actions));
  assertThrows(step(0, 0), Error, "have not begun: call reset first");
  env.reset({ seed: 0 });
  const before = env.save();
  assertRefused({
    "RangeError: Cannot step 2 copies with 1": step(0),
    "RangeError: Cannot take action 4": step(0, 4),
    "RangeError: Cannot take action 0.5": () =>
      env.step(Float32Array.of(0, 0.5) as never),
  });
  assertEquals(env.save(), before);
  close(env);
});

for (
  const [options, message] of [
    [{ numEnvs: 0 }, "Cannot make 0 copies of pong"],
    [
      { numEnvs: 1, maxEpisodeSteps: 0.5 },
      "Cannot limit episodes to 0.5 steps",
    ],
    [{ numEnvs: 1, frameskip: 0 }, "Cannot make pong with frameskip 0"],
    [{ numEnvs: 1, frameStack: 0 }, "Cannot make pong with frameStack 0"],
  ] as const
) {
  Deno.test(`settings that cannot be are refused: ${message}`, () => {
    assertThrows(() => new AtariVecEnv("pong", options), RangeError, message);
  });
}

Deno.test("a game that there is not is refused with the nearest one", () => {
  for (const id of ["ALE/Pongg-v5", "PonggNoFrameskip-v4", "pongg"]) {
    assertRefused({
      "RangeError: did you mean 'pong'?": () =>
        new AtariVecEnv(id, { numEnvs: 1 }),
    });
  }
});
