import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { defaultAcerConfig } from "./config.ts";
import { acerPresets } from "./presets.ts";

const RUN_KEYS = [
  "env",
  "totalTimesteps",
  "numEnvs",
  "normalizeObservation",
  "normalizeReward",
  "evaluationDeterministic",
];

for (const [name, text] of Object.entries(acerPresets)) {
  Deno.test(`the preset ${name} is for its environment and has known keys`, () => {
    const preset = parse(text) as Record<string, unknown>;
    assert(name.startsWith(String(preset.env)));
    for (const key of Object.keys(preset)) {
      assert(RUN_KEYS.includes(key) || key in defaultAcerConfig, key);
    }
  });
}
