import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { make } from "../mod.ts";
import { playEnv } from "../testdata/play.ts";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/chain_env.ts";
import { NormalizeObservation } from "./normalize_observation.ts";

const cartPole = () => new NormalizeObservation(make("CartPole-v1"));

Deno.test("scaled observations have mean 0 and deviation 1 in the long run", () => {
  const env = cartPole();
  env.reset({ seed: 0 });
  playEnv(env, 3000, 0);
  const { mean, variance } = env.statistics;
  env.training = false;
  const raw = make("CartPole-v1");
  const first = raw.reset({ seed: 7 }) as Float32Array;
  const scaled = env.reset({ seed: 7 }) as Float32Array;
  scaled.forEach((it, i) =>
    assertAlmostEquals(it, (first[i] - mean[i]) / Math.sqrt(variance[i]), 1e-5)
  );
});

Deno.test("frozen statistics do not change, shared ones are the same", () => {
  const training = cartPole();
  training.reset({ seed: 0 });
  playEnv(training, 100, 0);
  const evaluation = new NormalizeObservation(make("CartPole-v1"), {
    statistics: training.statistics,
    training: false,
  });
  const before = training.statistics.save();
  evaluation.reset({ seed: 1 });
  playEnv(evaluation, 100, 0);
  assertEquals(training.statistics.save(), before);
});

Deno.test("scaled observations are clipped", () => {
  const env = new NormalizeObservation(make("CartPole-v1"), { clip: 0.01 });
  const first = env.reset({ seed: 0 }) as Float32Array;
  assert(first.every((it) => Math.abs(it) <= Math.fround(0.01)));
});

Deno.test("other observations than boxes are refused", () => {
  assertThrows(
    () => new NormalizeObservation(new ChainEnv()),
    TypeError,
    "Cannot normalize observations of a discrete space: flatten them first",
  );
});

testSnapshot("NormalizeObservation", cartPole);

Deno.test("settings that cannot be are refused", () => {
  for (const [name, value] of [["clip", 0], ["epsilon", -1]] as const) {
    assertThrows(
      () => new NormalizeObservation(make("CartPole-v1"), { [name]: value }),
      RangeError,
      `Cannot normalize observations with ${name} ${value}: expected`,
    );
  }
});
