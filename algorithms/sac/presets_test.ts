import { assertEquals } from "@std/assert";
import { parse } from "@std/yaml";
import { sacPresets } from "./presets.ts";

type Settings = Record<string, unknown>;

/** Reads a preset; a key that stands twice in it is an error of YAML. */
const settingsOf = (id: string): Settings => parse(sacPresets[id]) as Settings;

Deno.test("discrete actions have settings of their own, which stay where defaults change", () => {
  const preset = settingsOf("CartPole-v1");
  const chosen = ["learningRate", "batchSize", "initialTemperature"];
  const others = [
    "targetEntropyFactor",
    "learningStarts",
    "initialExploration",
  ];
  for (const key of [...chosen, ...others]) {
    assertEquals(key in preset, true, key);
  }
});

Deno.test("MuJoCo's presets differ where rl-baselines3-zoo's do", () => {
  const { env: _, ...shared } = settingsOf("HalfCheetah-v5");
  assertEquals(shared, {
    totalTimesteps: 1_000_000,
    numEnvs: 1,
    learningStarts: 10_000,
    squashCorrection: "epsilon",
    evaluationInterval: 20_000,
    evaluationEpisodes: 10,
    checkpointInterval: 100_000,
  });
  const own: Record<string, Settings> = {
    "Humanoid-v5": { totalTimesteps: 2_000_000 },
    "Swimmer-v5": { gamma: 0.9999 },
  };
  const others = ["Ant", "Hopper", "Walker2d", "HumanoidStandup", "Reacher"]
    .concat("Pusher", "InvertedPendulum", "InvertedDoublePendulum")
    .map((name) => `${name}-v5`);
  for (const id of [...Object.keys(own), ...others]) {
    assertEquals(settingsOf(id), { ...shared, ...own[id], env: id });
  }
});
