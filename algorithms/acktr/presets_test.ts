import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { defaultAcktrConfig } from "./config.ts";
import { acktrPresets } from "./presets.ts";

const RUN_KEYS = [
  "env",
  "totalTimesteps",
  "numEnvs",
  "envKwargs",
  "vectorization",
  "evaluationInterval",
  "evaluationEpisodes",
  "checkpointInterval",
  "normalizeObservation",
  "normalizeReward",
  "evaluationDeterministic",
];

for (const [name, text] of Object.entries(acktrPresets)) {
  Deno.test(`the preset ${name} is for its environment and has known keys`, () => {
    const preset = parse(text) as Record<string, unknown>;
    const id = String(preset.env);
    if (name !== "baselines") {
      assert(name.startsWith(id) || id.startsWith(`${name}/`));
    }
    for (const key of Object.keys(preset)) {
      assert(RUN_KEYS.includes(key) || key in defaultAcktrConfig, key);
    }
  });
}
