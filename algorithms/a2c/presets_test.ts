import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { defaultA2CConfig } from "./config.ts";
import { a2cPresets } from "./presets.ts";

const RUN_KEYS = [
  "env",
  "totalTimesteps",
  "numEnvs",
  "normalizeObservation",
  "normalizeReward",
  "envKwargs",
  "vectorization",
  "evaluationDeterministic",
  "evaluationInterval",
  "evaluationEpisodes",
  "checkpointInterval",
];

/** Settings whose defaults were chosen by measurement, and may be chosen anew. */
const CHOSEN = [
  "normalizeObservation",
  "normalizeReward",
  "numSteps",
  "gaeLambda",
  "normalizeAdvantage",
  "optimizer",
  "learningRate",
  "valueNetwork",
  "objective",
];

for (const [name, text] of Object.entries(a2cPresets)) {
  Deno.test(`the preset ${name} is for its environment and has known keys`, () => {
    const preset = parse(text) as Record<string, unknown>;
    const id = preset.env as string;
    if (name !== "baselines") {
      assert(id === name || id.startsWith(`${name}/`));
    }
    for (const key of Object.keys(preset)) {
      assert(RUN_KEYS.includes(key) || key in defaultA2CConfig, key);
    }
  });

  Deno.test(`the preset ${name} stays what it is where defaults change`, () => {
    const preset = parse(text) as Record<string, unknown>;
    for (const key of CHOSEN) assert(key in preset, key);
  });
}
