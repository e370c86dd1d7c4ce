import { assertEquals } from "@std/assert";
import { parse } from "@std/yaml";
import { defaultAcktrConfig } from "./config.ts";
import { acktrPresets } from "./presets.ts";

/** Arguments of `Model` and of its `KfacOptimizer` in baselines/acktr/acktr.py. */
const ORIGINAL = {
  numSteps: 20,
  gamma: 0.99,
  entropyCoefficient: 0.01,
  valueCoefficient: 0.5,
  valueFisherCoefficient: 1,
  learningRate: 0.25,
  coldLearningRate: 0.25,
  learningRateSchedule: "linear",
  maxGradNorm: 0.5,
  klClip: 0.001,
  momentum: 0.9,
  covUpdateEvery: 1,
  invertEvery: 1,
  damping: 0.01,
  statisticsDecay: 0.99,
  coldUpdates: 10,
};

Deno.test("the preset baselines has the original's arguments", () => {
  const preset = parse(acktrPresets.baselines) as Record<string, unknown>;
  const config: Record<string, unknown> = { ...defaultAcktrConfig, ...preset };
  for (const [key, value] of Object.entries(ORIGINAL)) {
    assertEquals([key, config[key]], [key, value]);
  }
});
