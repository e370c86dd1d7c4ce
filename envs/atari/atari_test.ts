import { assert, assertEquals, assertThrows } from "@std/assert";
import { atari } from "./atari.ts";
import type { AtariEnv } from "./atari_env.ts";
import { checkEnv } from "../check_env.ts";
import type { Env } from "../env.ts";
import { isAtariInstalled } from "./is_atari_installed.ts";
import type { PreprocessingOptions } from "./preprocessing_options.ts";
import "./register.ts";
import { make } from "../registry.ts";
import { EnvWrapper } from "../wrappers/env_wrapper.ts";

/** Nothing can be played where nobody ran install-atari. */
const ignore = !isAtariInstalled();

/** Names of the wrappers from the outside to the inside, and the game. */
function layersOf(env: Env): { names: string[]; game: AtariEnv } {
  const names: string[] = [];
  let inner = env;
  while (inner instanceof EnvWrapper) {
    names.push(inner.constructor.name);
    inner = inner.env;
  }
  return { names, game: inner as unknown as AtariEnv };
}

for (
  const [preset, expected, shape] of [
    ["baselines", "ClipReward PreprocessFrame FireReset EpisodicLife", [
      210,
      160,
      3,
    ]],
    ["deepmind", "ClipReward PreprocessFrame EpisodicLife", [210, 160, 3]],
    ["gymnasium", "PreprocessFrame", [210, 160]],
  ] as const
) {
  Deno.test({
    name: `the wrappers of ${preset} stand in baselines' order`,
    ignore,
    fn() {
      const env = atari("ALE/Breakout-v5", { preset });
      const { names, game } = layersOf(env);
      assertEquals(
        names.join(" "),
        `FrameStack ${expected} EpisodeInfo Frameskip NoopReset`,
      );
      assertEquals(game.observationSpace.shape, shape);
      env.close();
    },
  });
}

Deno.test({
  name: "it is a sound environment",
  ignore,
  fn() {
    const env = atari("ALE/Breakout-v5", { size: { width: 10, height: 12 } });
    checkEnv(env, { steps: 60 });
    env.close();
  },
});

Deno.test({
  name: "by name, preprocessing has to be asked for",
  ignore,
  fn() {
    const kwargs = { preprocessing: "deepmind", clipReward: false };
    const env = make("ALE/Pong-v5", { kwargs });
    assertEquals(env.spec?.id, "ALE/Pong-v5");
    const { names } = layersOf(env);
    assertEquals(names.slice(0, 3), [
      "TimeLimit",
      "FrameStack",
      "PreprocessFrame",
    ]);
    assert(!names.includes("ClipReward"));
    const raw = make("ALE/Pong-v5");
    assertEquals(layersOf(raw).names, ["TimeLimit"]);
    env.close();
    raw.close();
  },
});

Deno.test("what there is not is refused", () => {
  assertThrows(() => atari("ALE/Pongg-v5"), RangeError, "'pong'?");
  assertThrows(
    () => atari("pong", { stack: 4 } as PreprocessingOptions),
    TypeError,
    "Cannot preprocess a game with 'stack'",
  );
});
