import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { acerPresets } from "./presets.ts";

/** Settings whose defaults were chosen by measurement, and may be chosen anew. */
const CHOSEN = [
  "normalizeReward",
  "optimizer",
  "learningRate",
  "qNetwork",
  "bufferSize",
  "replayStart",
];

for (const [name, text] of Object.entries(acerPresets)) {
  Deno.test(`the preset ${name} stays what it is where defaults change`, () => {
    const preset = parse(text) as Record<string, unknown>;
    for (const key of CHOSEN) assert(key in preset, key);
  });
}
