import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { a2cPresets } from "./presets.ts";

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
  Deno.test(`the preset ${name} stays what it is where defaults change`, () => {
    const preset = parse(text) as Record<string, unknown>;
    for (const key of CHOSEN) assert(key in preset, key);
  });
}
