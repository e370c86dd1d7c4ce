import { assert, assertEquals, assertThrows } from "@std/assert";
import { ALGORITHMS, findAlgorithm } from "./algorithms.ts";
import { UsageError } from "../program/errors.ts";
import { findPreset, fullSchema, presetFor, resolveConfig } from "./resolve.ts";
import { parseMapping } from "./yaml.ts";
import { type Entry, refuseFormer } from "./settings.ts";

const a2c = findAlgorithm("a2c")!;

Deno.test("the command line outweighs the preset, the preset the defaults", () => {
  const defaults = fullSchema(a2c).properties;
  const config = resolveConfig("a2c", { entries: [["lr", 0.5]] });
  assertEquals(config.env, "CartPole-v1");
  assertEquals(config.learningRate, 0.5);
  assertEquals(config.keepCheckpoints, defaults.keepCheckpoints.default);
  const preset = parseMapping(findPreset(a2c, "CartPole-v1"), "preset");
  for (const [key, value] of preset) {
    if (key !== "learningRate") assertEquals(config[key], value);
  }
});

Deno.test("an environment brings its own preset along", () => {
  const config = resolveConfig("a2c", { entries: [["env", "Pendulum-v1"]] });
  const preset = parseMapping(findPreset(a2c, "Pendulum-v1"), "preset");
  for (const [key, value] of preset) assertEquals(config[key], value);
});

Deno.test("a file stands alone: no preset is mixed in", () => {
  const file = { name: "mine.yaml", text: "env: Pendulum-v1\nn_envs: 3\n" };
  const config = resolveConfig("a2c", { file, entries: [] });
  const { totalTimesteps } = fullSchema(a2c).properties;
  assertEquals(config.numEnvs, 3);
  assertEquals(config.totalTimesteps, totalTimesteps.default);
});

Deno.test("the preset none represents the defaults", () => {
  const config = resolveConfig("a2c", {
    preset: "none",
    entries: [["env", "Pendulum-v1"]],
  });
  const file = { name: "bare.yaml", text: "env: Pendulum-v1" };
  assertEquals(config, resolveConfig("a2c", { file, entries: [] }));
  const env = "Pendulum-v1";
  assertEquals(presetFor(a2c, { preset: "none", env }), undefined);
  assertEquals(presetFor(a2c, { env: "Chain-v0" }), undefined);
  assertEquals(presetFor(a2c, { env }), env);
});

for (const { meta: { name } } of ALGORITHMS) {
  Deno.test(`the defaults of ${name} are valid settings`, () => {
    const config = resolveConfig(name, { preset: "none", entries: [] });
    const entries = Object.entries(config);
    assertEquals(resolveConfig(name, { preset: "none", entries }), config);
  });
}

/** Presets named after what they are taken from. */
const ORIGINALS = ["baselines", "paper", "rainbow"];

for (const { meta: { name: algorithm, presets = {} } } of ALGORITHMS) {
  for (const name of Object.keys(presets)) {
    Deno.test(`the preset ${name} of ${algorithm} is valid and its environment's`, () => {
      const { env } = resolveConfig(algorithm, { preset: name, entries: [] });
      const isNamedAfter = name.startsWith(env) || env.startsWith(`${name}/`);
      assert(isNamedAfter || ORIGINALS.includes(name), `${name}: ${env}`);
    });
  }
}

Deno.test("an empty file is a mapping of nothing", () => {
  assertEquals(parseMapping("", "empty.yaml"), []);
  assertThrows(() => parseMapping("3", "x.yaml"), UsageError, "a mapping");
});

Deno.test("the keys of a run and of an algorithm do not collide", () => {
  const { properties } = fullSchema(a2c);
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

Deno.test("settings of opponents are added to a preset's", () => {
  const opponentsOf = (...entries: Entry[]) =>
    resolveConfig("ppo", { entries: [["env", "TicTacToe-v0"], ...entries] })
      .opponents;
  const { openings } = opponentsOf()!;
  assertEquals(openings, 4);
  assertEquals(opponentsOf(["opponents.window", 3]), { openings, window: 3 });
  assertEquals(opponentsOf(["opponents", { openings: 0 }]), { openings: 0 });
  assertEquals(opponentsOf(["opponents", null]), null);
});

Deno.test("parameters of episodes are added to a file's", () => {
  const { parameters } = resolveConfig("ppo", {
    file: { name: "x.yaml", text: "parameters: {wind: 1, speed: 2}" },
    entries: [["env", "page:http://127.0.0.1/"], ["parameters", { wind: 3 }]],
  });
  assertEquals(parameters, { wind: 3, speed: 2 });
});

Deno.test("a game by its former name has the preset of Atari", () => {
  for (const env of ["PongNoFrameskip-v4", "QbertDeterministic-v4"]) {
    const config = resolveConfig("a2c", { entries: [["env", env]] });
    assertEquals([config.env, config.network], [env, "cnn"]);
    assertEquals(config.envKwargs, { preprocessing: "baselines" });
  }
});

Deno.test("the algorithm comes from the command, --set or the file, and presets follow it", () => {
  const file = { name: "mine.yaml", text: "algorithm: sac\ntau: 0.25\n" };
  assertEquals(resolveConfig(undefined, { entries: [] }).algorithm, "a2c");
  const fromFile = resolveConfig(undefined, { file, entries: [] });
  assertEquals([fromFile.algorithm, fromFile.tau], ["sac", 0.25]);
  assertEquals(resolveConfig("sac", { file, entries: [] }), fromFile);
  const sac: Entry = ["algorithm", "sac", "--set algorithm=sac"];
  const set = resolveConfig(undefined, {
    entries: [sac, ["env", "Pendulum-v1"]],
  });
  assertEquals(
    set,
    resolveConfig("sac", { entries: [["env", "Pendulum-v1"]] }),
  );
  const named = resolveConfig(undefined, {
    preset: "Pendulum-v1-mixture",
    entries: [["algorithm", "sac-v1", "--set algorithm=sac-v1"]],
  });
  assertEquals(named.policy, "mixture");
});

Deno.test("each number of a configuration has bounds that a run can be computed with", () => {
  const float32 = 3.4e38;
  for (const algorithm of ALGORITHMS) {
    for (
      const [key, it] of Object.entries(fullSchema(algorithm).properties)
    ) {
      const property = it.items ?? it;
      const types = [property.type].flat();
      const isWhole = types.includes("integer") || property.multipleOf === 1;
      if (!isWhole && !types.includes("number")) continue;
      const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = property;
      const least = minimum ?? exclusiveMinimum ?? -Infinity;
      const greatest = maximum ?? exclusiveMaximum ?? Infinity;
      // A return is compared with it, in float64.
      const most = isWhole
        ? Number.MAX_SAFE_INTEGER
        : key === "stopReward"
        ? Number.MAX_VALUE
        : float32;
      const name = `${algorithm.meta.name} ${key}`;
      assert(greatest <= most && least >= -most, name);
    }
  }
});

Deno.test("a preset does not give what a chosen method has defaults for", () => {
  const read = (entries: Entry[]) => resolveConfig("sac", { entries });
  const env: Entry = ["env", "MountainCarContinuous-v0"];
  assertEquals(read([env]).gradientSteps, 32);
  const droq = read([env, ["method", "droq"]]);
  assertEquals(droq.gradientSteps, null);
  assertEquals(droq.trainFrequency, 1);
  assertEquals(droq.totalTimesteps, read([env]).totalTimesteps);
  const own = read([env, ["method", "droq"], ["gradient_steps", 3]]);
  assertEquals(own.gradientSteps, 3);
});

Deno.test("a run with settings of earlier versions is read, and not trained", () => {
  const read = (line: string, keepsFormer: boolean) => {
    const file = { name: "config.yaml", text: `algorithm: sac\n${line}\n` };
    return resolveConfig(undefined, { file, entries: [] }, { keepsFormer });
  };
  const { schema } = findAlgorithm("sac")!.meta;
  assertThrows(
    () => read("critics: value", false),
    UsageError,
    'Cannot use critics = "value" of config.yaml: a value function is learned by sac-v1',
  );
  const config = read("critics: value", true);
  assertEquals(config.critics, "value");
  assertThrows(
    () => refuseFormer(config, schema),
    UsageError,
    'Cannot use critics = "value" of this run: a value function is learned by sac-v1',
  );
  refuseFormer(read("critics: twin_q", true), schema);
});
