import { assertEquals, assertThrows } from "@std/assert";
import { envSpec, make } from "../registry.ts";
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

Deno.test({
  name: "an environment made by name is truncated at its limit",
  ignore: !isMujocoInstalled(),
  fn() {
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
  },
});
