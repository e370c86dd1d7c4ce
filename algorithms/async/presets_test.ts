import { assert, assertEquals } from "@std/assert";
import { parse } from "@std/yaml";
import { asyncMethods } from "./methods.ts";

const RUN_KEYS = [
  "env",
  "envKwargs",
  "totalTimesteps",
  "workers",
  "normalizeReward",
  "evaluationDeterministic",
  "evaluationInterval",
  "evaluationEpisodes",
  "checkpointInterval",
];

/** Settings whose defaults were chosen by measurement, and may be chosen anew. */
const CHOSEN = [
  "maxSteps",
  "updateInterval",
  "targetInterval",
  "epsilonSteps",
  "learningRate",
  "rmspropEpsilon",
  "maxGradNorm",
  "valueNetwork",
];

for (const { name, presets, schema } of asyncMethods) {
  for (const [env, text] of Object.entries(presets)) {
    Deno.test(`the preset ${env} of ${name} is for its environment and has known keys`, () => {
      const preset = parse(text) as Record<string, unknown>;
      if (env !== "paper") {
        assertEquals((preset.env as string).split("/")[0], env);
      }
      for (const key of Object.keys(preset)) {
        assert(RUN_KEYS.includes(key) || key in schema.properties, key);
      }
    });

    Deno.test(`the preset ${env} of ${name} stays what it is where defaults change`, () => {
      const preset = parse(text) as Record<string, unknown>;
      for (const key of CHOSEN) {
        assert(key in preset || !(key in schema.properties), key);
      }
    });
  }
}
