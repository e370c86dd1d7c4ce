import type { Env } from "@bellman/types";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { checkEnv } from "../check_env.ts";
import { atari, checkOptionNames, registerAtari } from "./atari.ts";
import type { AtariEnv } from "./atari_env.ts";
import { AtariVecEnv } from "./atari_vec_env.ts";
import { isAtariInstalled } from "./emulator/installed.ts";
import type { PreprocessingOptions } from "./preprocessing_options.ts";
import "./mod.ts";
import {
  type EnvRegistry,
  make,
  makeVec,
  registeredIds,
} from "../registry/registry.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { RecordEpisodeStatistics } from "../wrappers/record_episode_statistics.ts";
import { assertSameBytes, assertSameCourse } from "./testdata/same_course.ts";
import { Wrapper } from "../wrappers/wrapper.ts";
import type { TimeLimit } from "../wrappers/time_limit.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";

/** Nothing can be played where nobody ran install-atari. */
const test = testsWith("ALE", isAtariInstalled());

/** Names of the wrappers from the outside to the inside, and the game. */
function layersOf(env: Env): { names: string[]; game: AtariEnv } {
  const names: string[] = [];
  let inner = env;
  while (inner instanceof Wrapper) {
    names.push(inner.constructor.name);
    inner = inner.env;
  }
  return { names, game: inner as unknown as AtariEnv };
}

const cases = [
  ["baselines", "ClipReward PreprocessFrame FireReset EpisodicLife", [
    210,
    160,
    3,
  ]],
  ["deepmind", "ClipReward PreprocessFrame EpisodicLife", [210, 160, 3]],
  ["gymnasium", "PreprocessFrame", [210, 160]],
  ["machado", "ClipReward PreprocessFrame", [210, 160, 3]],
] as const;
for (const [preset, expected, shape] of cases) {
  test(`the wrappers of ${preset} stand in baselines' order`, () => {
    const env = atari("ALE/Breakout-v5", { preset });
    const { names, game } = layersOf(env);
    assertEquals(
      names.join(" "),
      `GameLimit FrameStack ${expected} EpisodeInfo Frameskip NoopReset`,
    );
    assertEquals(game.observationSpace.shape, shape);
    env.close();
  });
}

test("it is a sound environment", () => {
  const env = atari("ALE/Breakout-v5", { size: { width: 10, height: 12 } });
  checkEnv(env, { steps: 20 });
  env.close();
});

test("by name, preprocessing has to be asked for", () => {
  const kwargs = { preprocessing: "deepmind", clipReward: false };
  const env = make("ALE/Pong-v5", { kwargs });
  assertEquals(env.spec?.id, "ALE/Pong-v5");
  const { names } = layersOf(env);
  assertEquals(names.slice(0, 3), [
    "GameLimit",
    "FrameStack",
    "PreprocessFrame",
  ]);
  assert(!names.includes("ClipReward"));
  const raw = make("ALE/Pong-v5");
  assertEquals(layersOf(raw).names, ["TimeLimit"]);
  env.close();
  raw.close();
});

for (const id of ["backgammon", "video_checkers"]) {
  test(`${id} needs all actions for steps without one`, () => {
    const says =
      "action 0 is FIRE: expected NOOP, as with fullActionSpace: true";
    const noopOptions: PreprocessingOptions[] = [
      { terminalOnLifeLoss: false },
      { noopMax: 0 },
    ];
    for (const options of noopOptions) {
      assertThrows(() => atari(id, options), TypeError, says);
      const copies = () => new AtariVecEnv(id, { ...options, numEnvs: 1 });
      assertThrows(copies, TypeError, says);
    }
    const options = { fullActionSpace: true, size: { width: 8, height: 8 } };
    const single = new SyncVecEnv([() => atari(id, options)]);
    const fused = new AtariVecEnv(id, { ...options, numEnvs: 1 });
    assertSameBytes(single.reset({ seed: 1 }), fused.reset({ seed: 1 }));
    assertSameCourse(single, fused, { steps: 4 });
    single.close();
    fused.close();
    const plain = { noopMax: 0, terminalOnLifeLoss: false };
    atari(id, plain).close();
    new AtariVecEnv(id, { ...plain, numEnvs: 1 }).close();
  });
}

/** Plays one copy until a game is told; what is told, and the steps. */
function firstTold(env: Env): { steps: number; episodes: unknown } {
  const copies = new RecordEpisodeStatistics(new SyncVecEnv([() => env]));
  copies.reset({ seed: 0 });
  for (let steps = 1; steps < 50; steps++) {
    const { episodes, truncated } = copies.step(Int32Array.of(0));
    assertEquals(truncated[0] === 1, episodes!.length > 0);
    if (episodes!.length > 0) return { steps, episodes };
  }
  throw new Error("no game was told");
}

test("a game that the limit of steps cuts off is told in that step", () => {
  const kwargs = { preprocessing: "baselines", noopMax: 0, fireReset: false };
  const env = make("ALE/Pong-v5", { kwargs, maxEpisodeSteps: 10 });
  const cutOff = { env: 0, return: 0, length: 10, terminated: false };
  assertEquals(firstTold(env), {
    steps: 10,
    episodes: [{ ...cutOff, lifeReturns: [0] }],
  });
  env.close();
});

test("whatever the form, its spec has the id and the limit of steps or frames", () => {
  const id = "ALE/Pong-v5";
  for (const kwargs of [{}, { preprocessing: "deepmind" }]) {
    for (const maxEpisodeSteps of [undefined, Infinity, 7]) {
      const single = make(id, { kwargs, maxEpisodeSteps });
      const copies = makeVec(id, { numEnvs: 1, kwargs, maxEpisodeSteps });
      for (const { spec } of [single, copies]) {
        assertEquals(
          [spec?.id, spec?.maxEpisodeSteps, spec?.rewardThreshold],
          [id, maxEpisodeSteps === 7 ? 7 : 27_000, undefined],
        );
      }
      single.close();
      copies.close();
    }
  }
});

Deno.test("what there is not is refused", () => {
  assertThrows(() => atari("ALE/Pongg-v5"), RangeError, "'pong'?");
  assertThrows(
    () => atari("pong", { stack: 4 } as PreprocessingOptions),
    TypeError,
    "Unknown option 'stack' of pong: did you mean 'frameStack'?",
  );
});

const ID = "ALE/Pong-v5";

Deno.test("options that a game has pass", () => {
  checkOptionNames(ID, {});
  checkOptionNames(ID, { obsType: "ram", mode: 1 });
  checkOptionNames(ID, { preprocessing: "baselines", noopMax: 0 });
  checkOptionNames(ID, { noopMax: undefined });
});

Deno.test("others are refused with the nearest one", () => {
  const refused = (options: Record<string, unknown>, says: string) =>
    assertThrows(() => checkOptionNames(ID, options), TypeError, says);
  refused(
    { frameskp: 3 },
    "option 'frameskp' of ALE/Pong-v5: did you mean 'frameskip'?",
  );
  refused({ preprocesing: "deepmind" }, "did you mean 'preprocessing'?");
  refused({ clipReward: true }, "that is for preprocessed games");
  refused({ preprocessing: "deepmind", obsType: "ram" }, "option 'obsType'");
  refused({ preprocessing: "deepmind", preset: "deepmind" }, "option 'preset'");
});

/** Lines of id, game, frames a step, repetition and frame limit. */
const GYMNASIUM = Deno.readTextFileSync(
  new URL("./testdata/gymnasium_ids.txt", import.meta.url),
).trim().split("\n").map((line) => line.split(" "));

function atariRegistry(): EnvRegistry {
  const registry: EnvRegistry = new Map();
  registerAtari({ registry });
  return registry;
}

Deno.test("registerAtari registers exactly Gymnasium's ids", () => {
  const ids = registeredIds({ registry: atariRegistry() }).sort();
  assertEquals(ids, GYMNASIUM.map(([id]) => id).sort());
});

Deno.test("registerAtari leads from a wrong id to the nearest one", () => {
  const registry = atariRegistry();
  const wrong = () => make("ALE/Brekout-v5", { registry });
  assertThrows(wrong, RangeError, "did you mean 'ALE/Breakout-v5'?");
});

/** What an environment of an id does: frames a step, chance and frame limit. */
function settingsOf(id: string, registry: EnvRegistry): unknown[] {
  // What is undefined is as left out.
  const kwargs = { obsType: "ram", frameskip: undefined };
  const env = make(id, { registry, kwargs }) as TimeLimit;
  const inner = env.env as AtariEnv;
  try {
    env.reset({ seed: 1 });
    const frames = new Set(Array.from({ length: 30 }, () => {
      const before = inner.ale.frameNumber;
      env.step(0);
      return inner.ale.frameNumber - before;
    }));
    const { settings } = inner.ale.save() as { settings: string };
    const [chance, limit] = settings.split(",").slice(-2).map(Number);
    return [inner.ale.game.id, [...frames].sort().join(), chance, limit];
  } finally {
    env.close();
  }
}

Deno.test("registerAtari gives the ids of a game Gymnasium's settings [ALE]", {
  ignore: !isAtariInstalled(),
}, () => {
  const registry = atariRegistry();
  for (const [id, game, skip, chance, limit] of GYMNASIUM) {
    if (game !== "pong") continue;
    const frames = skip === "[2,5]" ? "2,3,4" : skip;
    assertEquals(settingsOf(id, registry), [
      game,
      frames,
      Number(chance),
      Number(limit),
    ]);
  }
});
