/** Settings of PPO that all its programs have: stable-baselines3's, on 64-64 tanh. */
import type { PpoConfig } from "@bellman/ppo";

/** Task of a program, which its argument changes. */
export const PPO_TASK = {
  numEnvs: 8,
  numSteps: 128,
  epochs: 4,
  minibatches: 4,
  network: "auto",
  seed: 0,
} as const;

/** Settings of a task. */
export function ppoConfig(
  { numSteps, epochs, minibatches, network }: Pick<
    PpoConfig,
    "numSteps" | "epochs" | "minibatches" | "network"
  >,
): Partial<PpoConfig> {
  return {
    numSteps,
    epochs,
    minibatches,
    network,
    lstmSize: 64,
    hiddenSizes: [64, 64],
    activation: "tanh",
    // Stable-Baselines3 has one trunk of images, and two of other observations.
    valueNetwork: network === "cnn" ? "shared" : "separate",
    objective: "shared",
    learningRate: 3e-4,
    learningRateSchedule: "constant",
    entropyCoefficient: 0.01,
  };
}
