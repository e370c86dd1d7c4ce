import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { asyncMethods } from "./methods.ts";

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
    Deno.test(`the preset ${env} of ${name} stays what it is where defaults change`, () => {
      const preset = parse(text) as Record<string, unknown>;
      const chosen = name === "a3c" ? CHOSEN : [...CHOSEN, "activation"];
      for (const key of chosen) {
        assert(key in preset || !(key in schema.properties), key);
      }
    });
  }
}
