import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { defaultAcerConfig } from "./config.ts";
import { acerPresets } from "./presets.ts";

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

/** Settings whose defaults were chosen by measurement, and may be chosen anew. */
const CHOSEN = [
  "optimizer",
  "learningRate",
  "qNetwork",
  "bufferSize",
  "replayStart",
];

for (const [name, text] of Object.entries(acerPresets)) {
  Deno.test(`the preset ${name} is for its environment and has known keys`, () => {
    const preset = parse(text) as Record<string, unknown>;
    const id = String(preset.env);
    if (name !== "baselines") {
      assert(name.startsWith(id) || id.startsWith(`${name}/`));
    }
    for (const key of Object.keys(preset)) {
      assert(RUN_KEYS.includes(key) || key in defaultAcerConfig, key);
    }
  });

  Deno.test(`the preset ${name} stays what it is where defaults change`, () => {
    const preset = parse(text) as Record<string, unknown>;
    for (const key of CHOSEN) assert(key in preset, key);
  });
}
