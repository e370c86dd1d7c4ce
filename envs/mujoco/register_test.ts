import { assertEquals, assertThrows } from "@std/assert";
import { envSpec, make } from "../registry/registry.ts";
import { findLibrary } from "./install/installed.ts";
import { SubprocessVecEnv, WorkerVecEnv } from "../workers/mod.ts";
import { isMujocoInstalled } from "./mod.ts";

// Gymnasium 1.4.0: id, time limit, reward threshold.
const REGISTERED: [id: string, limit: number, threshold?: number][] = [
  ["HalfCheetah-v5", 1000, 4800],
  ["Hopper-v5", 1000, 3800],
  ["Walker2d-v5", 1000],
  ["Ant-v5", 1000, 6000],
  ["Humanoid-v5", 1000],
  ["HumanoidStandup-v5", 1000],
  ["Swimmer-v5", 1000, 360],
  ["Reacher-v5", 50, -3.75],
  ["Pusher-v5", 100, 0],
  ["InvertedPendulum-v5", 1000, 950],
  ["InvertedDoublePendulum-v5", 1000, 9100],
];

Deno.test("environments are known by Gymnasium's names and limits", () => {
  for (const [id, maxEpisodeSteps, rewardThreshold] of REGISTERED) {
    assertEquals(envSpec(id), { id, maxEpisodeSteps, rewardThreshold });
  }
});

Deno.test("an environment made by name is truncated at its limit [MuJoCo]", {
  ignore: !isMujocoInstalled(),
}, () => {
  const env = make("Reacher-v5", { kwargs: { rewardControlWeight: 0 } });
  env.reset({ seed: 0 });
  const ends = Array.from(
    { length: 50 },
    () => env.step(new Float32Array(2)).truncated,
  );
  assertEquals(ends.indexOf(true), 49);
  env.close();
  assertThrows(
    () => make("Reacher-v5", { kwargs: { rewardDist: 1 } }),
    TypeError,
    "did you mean 'rewardDistWeight'?",
  );
});

const hasBoth = isMujocoInstalled() && findLibrary() !== undefined;
const kwargs = { engine: "wasm" };

// First, while this thread has no WebAssembly.
for (const Hosted of [WorkerVecEnv, SubprocessVecEnv]) {
  Deno.test(
    `the engine that is asked for is loaded in hosts of ${Hosted.name} [MuJoCo]`,
    { ignore: !hasBoth },
    () => {
      const env = new Hosted({ id: "Hopper-v5", kwargs }, { numEnvs: 1 });
      env.reset({ seed: 0 });
      assertEquals(env.step(new Float32Array(3)).rewards.length, 1);
      env.close();
    },
  );
}

Deno.test("WebAssembly is an engine once its module was imported [MuJoCo]", {
  ignore: !hasBoth,
}, async () => {
  assertThrows(
    () => make("Hopper-v5", { kwargs }),
    Error,
    "import '@bellman/envs/mujoco/wasm' first",
  );
  await import("./wasm.ts");
  const env = make("Hopper-v5", { kwargs });
  assertEquals((env.reset({ seed: 0 }) as Float64Array).length, 11);
  env.close();
});
