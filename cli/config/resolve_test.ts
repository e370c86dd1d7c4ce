import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../usage_error.ts";
import {
  findPreset,
  fullSchema,
  parseMapping,
  resolveConfig,
} from "./resolve.ts";

Deno.test("the command line outweighs the preset, the preset the defaults", () => {
  const defaults = fullSchema("a2c").properties;
  const config = resolveConfig("a2c", { entries: [["lr", 0.5]] });
  assertEquals(config.env, "CartPole-v1");
  assertEquals(config.learningRate, 0.5);
  assertEquals(config.keepCheckpoints, defaults.keepCheckpoints.default);
  const preset = parseMapping(findPreset("a2c", "CartPole-v1"), "preset");
  for (const [key, value] of preset) {
    if (key !== "learningRate") assertEquals(config[key], value);
  }
});

Deno.test("an environment brings its own preset along", () => {
  const config = resolveConfig("a2c", { entries: [["env", "Pendulum-v1"]] });
  const preset = parseMapping(findPreset("a2c", "Pendulum-v1"), "preset");
  for (const [key, value] of preset) assertEquals(config[key], value);
});

Deno.test("a file stands alone: no preset is mixed in", () => {
  const file = { name: "mine.yaml", text: "env: Pendulum-v1\nn_envs: 3\n" };
  const config = resolveConfig("a2c", { file, entries: [] });
  const { totalTimesteps } = fullSchema("a2c").properties;
  assertEquals(config.numEnvs, 3);
  assertEquals(config.totalTimesteps, totalTimesteps.default);
});

Deno.test("every preset is valid and its own environment's", () => {
  for (
    const id of ["CartPole-v0", "CartPole-v1", "Acrobot-v1", "MountainCar-v0"]
  ) {
    const config = resolveConfig("a2c", { preset: id, entries: [] });
    assertEquals(config.env, id);
  }
});

Deno.test("an empty file is a mapping of nothing", () => {
  assertEquals(parseMapping("", "empty.yaml"), []);
  assertThrows(() => parseMapping("3", "x.yaml"), UsageError, "a mapping");
});

Deno.test("the keys of a run and of an algorithm do not collide", () => {
  const { properties } = fullSchema("a2c");
  const names = Object.entries(properties).flatMap((
    [key, { alias = "" }],
  ) => [key, ...alias.split(",").map((it) => it.trim()).filter(Boolean)]);
  assertEquals(new Set(names).size, names.length);
});

Deno.test("options of the environment are added to a preset's", () => {
  const optionsOf = (envKwargs: Record<string, unknown>) =>
    resolveConfig("a2c", {
      entries: [["env", "ALE/Pong-v5"], ["envKwargs", envKwargs]],
    }).envKwargs;
  assertEquals(optionsOf({ repeatActionProbability: 0 }), {
    preprocessing: "baselines",
    repeatActionProbability: 0,
  });
  assertEquals(optionsOf({ preprocessing: "deepmind" }), {
    preprocessing: "deepmind",
  });
  assertEquals(optionsOf({ preprocessing: null, size: null }), { size: null });
});

Deno.test("a game by its former name has the preset of Atari", () => {
  for (const env of ["PongNoFrameskip-v4", "QbertDeterministic-v4"]) {
    const config = resolveConfig("a2c", { entries: [["env", env]] });
    assertEquals([config.env, config.network], [env, "cnn"]);
    assertEquals(config.envKwargs, { preprocessing: "baselines" });
  }
});
