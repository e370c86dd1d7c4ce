import { assertEquals } from "@std/assert";
import { defaultSacConfig, type SacConfig } from "./config.ts";
import { settledConfig } from "./settled_config.ts";
import { spacesOf } from "../agent/testdata/made_up_env.ts";

/** A setting of discrete actions, and of box ones. */
function settled<Key extends keyof SacConfig>(
  key: Key,
  config: Partial<SacConfig> = {},
  totalTimesteps = 200_000,
): SacConfig[Key][] {
  return [spacesOf("discrete"), spacesOf("box")].map((spaces) =>
    settledConfig({ ...defaultSacConfig, ...config }, {
      ...spaces,
      totalTimesteps,
    })[key]
  );
}

Deno.test("random actions are repeated by the kind of actions, or as told", () => {
  const key = "initialExploration";
  assertEquals(settled(key), ["repeated", "uniform"]);
  assertEquals(settled(key, { [key]: "policy" }), ["policy", "policy"]);
});

Deno.test("learning starts by the kind of actions, the run and the buffer, or as told", () => {
  const key = "learningStarts";
  assertEquals(settled(key), [5000, 100]);
  assertEquals(settled(key, {}, 2002), [500, 100]);
  assertEquals(settled(key, {}, 1), [1, 100]);
  assertEquals(settled(key, { bufferSize: 400 }), [400, 100]);
  assertEquals(settled(key, { learningStarts: 7 }), [7, 7]);
});

const METHODS: Readonly<Record<string, Partial<SacConfig>>> = {
  sac: {
    numCritics: 2,
    quantiles: null,
    targetCritics: null,
    targetNetworks: true,
    normalization: "none",
    dropout: 0,
    policyDelay: 1,
    gradientSteps: 1,
    learningRate: 3e-4,
    adamBeta1: 0.9,
    criticHiddenSizes: [256, 256],
  },
  tqc: { quantiles: 25, droppedQuantiles: 2 },
  crossq: {
    targetNetworks: false,
    normalization: "batch",
    policyDelay: 3,
    learningRate: 1e-3,
    adamBeta1: 0.5,
  },
  redq: {
    numCritics: 10,
    targetCritics: 2,
    policyDelay: 20,
    gradientSteps: 20,
  },
  droq: {
    normalization: "layer",
    dropout: 0.01,
    policyDelay: 20,
    gradientSteps: 20,
  },
};

Deno.test("a method gives defaults to settings that are null, and to no others", () => {
  for (const method of Object.keys(METHODS) as SacConfig["method"][]) {
    const wanted = { ...METHODS.sac, ...METHODS[method] };
    for (const [key, value] of Object.entries(wanted)) {
      const [, box] = settled(key as keyof SacConfig, { method });
      assertEquals(box, value, `${method} ${key}`);
    }
  }
  const own: Partial<SacConfig> = {
    numCritics: 3,
    normalization: "layer",
    policyDelay: 1,
    learningRate: 0.1,
    criticHiddenSizes: [9],
  };
  for (const [key, value] of Object.entries(own)) {
    const [, box] = settled(key as keyof SacConfig, { ...own, method: "redq" });
    assertEquals(box, value);
  }
});

Deno.test("redq and droq update the policy once a round", () => {
  for (const method of ["redq", "droq"] as const) {
    const delay = (config: Partial<SacConfig>) =>
      settled("policyDelay", { method, ...config })[1];
    assertEquals(delay({ gradientSteps: 5 }), 5);
    assertEquals(delay({ gradientSteps: 5, policyDelay: 2 }), 2);
    assertEquals(delay({ gradientSteps: -1 }), 1);
  }
});

Deno.test("few quantiles leave one, and other normalization has target networks", () => {
  const dropped = (quantiles: number) =>
    settled("droppedQuantiles", { method: "tqc", quantiles })[1];
  assertEquals([1, 2, 3, 50].map(dropped), [0, 1, 2, 2]);
  const normalization = "layer", method = "crossq";
  assertEquals(settled("targetNetworks", { method, normalization })[1], true);
});
