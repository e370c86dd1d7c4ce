import { assertEquals, assertThrows } from "@std/assert";
import {
  emulatorOptions,
  type PreprocessingOptions,
  resolvePreprocessing,
} from "./preprocessing_options.ts";

Deno.test("a preset gives all settings, and each can be given by itself", () => {
  const names = ["baselines", "deepmind", "gymnasium"] as const;
  const [baselines, deepmind, gymnasium] = names.map((preset) =>
    resolvePreprocessing("pong", { preset })
  );
  assertEquals(resolvePreprocessing("pong", {}), baselines);
  assertEquals(deepmind, { ...baselines, fireReset: false });
  assertEquals(gymnasium.repeatActionProbability, 0.25);
  assertEquals(resolvePreprocessing("pong", { preset: "machado" }), {
    ...deepmind,
    noopMax: 0,
    frameskip: 5,
    terminalOnLifeLoss: false,
    repeatActionProbability: 0.25,
    fullActionSpace: true,
    maxNumFramesPerEpisode: 18_000,
  });
  assertEquals(
    resolvePreprocessing("pong", {
      preset: "gymnasium",
      frameskip: 2,
      clipReward: undefined,
    }),
    { ...gymnasium, frameskip: 2 },
  );
});

Deno.test("the emulator gets its settings, and no mode of its own", () => {
  assertEquals(emulatorOptions(resolvePreprocessing("pong", {})), {
    mode: undefined,
    difficulty: undefined,
    repeatActionProbability: 0,
    maxNumFramesPerEpisode: 108_000,
  });
  const { mode, difficulty } = emulatorOptions(
    resolvePreprocessing("pong", { mode: 3, difficulty: 1 }),
  );
  assertEquals([mode, difficulty], [3, 1]);
});

const SIZE = "expected width and height of at least 1, both whole numbers";

const cases = [
  [{ preset: "baseline" }, RangeError, "did you mean 'baselines'?"],
  [{ preset: "toString" }, RangeError, "Unknown preprocessing 'toString'"],
  [
    { frameSkip: 4 },
    TypeError,
    "Unknown option 'frameSkip' of pong: did you mean 'frameskip'?",
  ],
  [{ maximum: "colour" }, RangeError, '"colour": expected color, gray'],
  [{ stackAxis: 1 }, TypeError, "stackAxis 1: expected first, last"],
  [{ fireReset: 1 }, TypeError, "fireReset 1: expected true or false"],
  [{ fullActionSpace: "no" }, TypeError, '"no": expected true or false'],
  [{ frameskip: [2, 5] }, TypeError, "frameskip [ 2, 5 ]: expected a whole"],
  [{ noopMax: -1 }, RangeError, "noopMax -1: expected a whole number of at"],
  [{ noopMax: "30" }, TypeError, 'noopMax "30": expected a whole number'],
  [{ frameStack: 0.5 }, RangeError, "frameStack 0.5: expected a whole"],
  [{ repeatActionProbability: null }, TypeError, "null: expected 0 to 1"],
  [{ repeatActionProbability: NaN }, RangeError, "NaN: expected 0 to 1"],
  [
    { maxNumFramesPerEpisode: "1e3" },
    TypeError,
    '"1e3": expected a whole number of at least 1, or Infinity',
  ],
  [{ mode: "0" }, TypeError, 'mode "0": expected a whole number'],
  [{ size: null }, TypeError, `with size null: ${SIZE}`],
  [{ size: 84 }, TypeError, `with size 84: ${SIZE}`],
  [{ size: {} }, RangeError, `with size {}: ${SIZE}`],
  [
    { size: { width: -1, height: 84 } },
    RangeError,
    `with size { width: -1, height: 84 }: ${SIZE}`,
  ],
] as const;
for (const [options, type, message] of cases) {
  Deno.test(`settings that cannot be are refused: ${message}`, () => {
    const wrong = options as unknown as PreprocessingOptions;
    assertThrows(() => resolvePreprocessing("pong", wrong), type, message);
  });
}
