import { assert, assertEquals } from "@std/assert";
import { parse } from "@std/yaml";
import { defaultA2CConfig } from "./config.ts";
import { a2cPresets } from "./presets.ts";
import { a2cConfigSchema } from "./schema.ts";

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

for (const [name, text] of Object.entries(a2cPresets)) {
  Deno.test(`the preset ${name} is for its environment and has known keys`, () => {
    const preset = parse(text) as Record<string, unknown>;
    const id = preset.env as string;
    assert(id === name || id.startsWith(`${name}/`));
    for (const key of Object.keys(preset)) {
      assert(RUN_KEYS.includes(key) || key in defaultA2CConfig, key);
    }
  });
}

Deno.test("the schema has the settings and defaults of the type", () => {
  const defaults = Object.fromEntries(
    Object.entries(a2cConfigSchema.properties)
      .map(([key, property]) => [key, property.default]),
  );
  assertEquals(defaults, { ...defaultA2CConfig } as Record<string, unknown>);
});
