import { assertEquals, assertThrows } from "@std/assert";
import {
  emulatorOptions,
  type PreprocessingOptions,
  resolvePreprocessing,
} from "./preprocessing_options.ts";

Deno.test("a preset gives all settings, and each can be given by itself", () => {
  const names = ["baselines", "deepmind", "gymnasium"] as const;
  const [baselines, deepmind, gymnasium] = names.map((preset) =>
    resolvePreprocessing({ preset })
  );
  assertEquals(resolvePreprocessing({}), baselines);
  assertEquals(deepmind, { ...baselines, fireReset: false });
  assertEquals(gymnasium.repeatActionProbability, 0.25);
  assertEquals(
    resolvePreprocessing({
      preset: "gymnasium",
      frameskip: 2,
      clipReward: undefined,
    }),
    { ...gymnasium, frameskip: 2 },
  );
});

Deno.test("the emulator gets its settings, and no mode of its own", () => {
  assertEquals(emulatorOptions(resolvePreprocessing({})), {
    repeatActionProbability: 0,
    maxNumFramesPerEpisode: 108_000,
  });
  const { mode, difficulty } = emulatorOptions(
    resolvePreprocessing({ mode: 3, difficulty: 1 }),
  );
  assertEquals([mode, difficulty], [3, 1]);
});

for (
  const [options, type, message] of [
    [{ preset: "baseline" }, RangeError, "did you mean 'baselines'?"],
    [{ preset: "toString" }, RangeError, "Unknown preprocessing 'toString'"],
    [
      { frameSkip: 4 },
      TypeError,
      "with 'frameSkip': did you mean 'frameskip'?",
    ],
    [{ maximum: "colour" }, RangeError, "did you mean 'color'?"],
    [{ fireReset: 1 }, TypeError, "fireReset '1': expected true or false"],
  ] as const
) {
  Deno.test(`settings that cannot be are refused: ${message}`, () => {
    assertThrows(
      () => resolvePreprocessing(options as unknown as PreprocessingOptions),
      type,
      message,
    );
  });
}
