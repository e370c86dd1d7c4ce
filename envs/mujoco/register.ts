import type { EnvSpec } from "@bellman/types";
import { register, type RegistryOptions } from "../registry/registry.ts";
import { MujocoEnv, MujocoVecEnv } from "./mujoco_env.ts";
import type {
  MujocoChoice,
  MujocoOptionsOf,
  MujocoTaskName,
} from "./tasks/tasks.ts";

/**
 * Makes a task known by a name, so that `make`, `makeVec`, workers and the command
 * line make it; its options are those of `make`.
 *
 * @param task The task, or a built-in kind by its name.
 * @param spec Id with a version, time limit and reward threshold.
 * @param options Registry to add it to.
 * @throws {SyntaxError} If the id has no version.
 * @throws {RangeError} If the id is taken.
 * @example
 * ```ts
 * import { envSpec } from "@bellman/envs";
 * import { registerMujoco } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * registerMujoco("Hopper", { id: "ShortHopper-v0", maxEpisodeSteps: 50 });
 * assertEquals(envSpec("ShortHopper-v0").maxEpisodeSteps, 50);
 * ```
 */
export function registerMujoco<T extends MujocoChoice>(
  task: T,
  spec: EnvSpec,
  options: RegistryOptions = {},
): void {
  register({
    ...spec,
    make: (kwargs) => new MujocoEnv(task, kwargs as MujocoOptionsOf<T>),
    makeVec: ({ numEnvs, maxEpisodeSteps, kwargs }) =>
      new MujocoVecEnv(task, {
        numEnvs,
        maxEpisodeSteps,
        kwargs,
        spec: { ...spec, maxEpisodeSteps },
      }),
  }, options);
}

/** Limits in Gymnasium of each kind: 1000 steps, unless it says. */
const LIMITS: Readonly<Record<MujocoTaskName, Omit<EnvSpec, "id">>> = {
  Reacher: { maxEpisodeSteps: 50, rewardThreshold: -3.75 },
  Pusher: { maxEpisodeSteps: 100, rewardThreshold: 0 },
  InvertedPendulum: { rewardThreshold: 950 },
  InvertedDoublePendulum: { rewardThreshold: 9100 },
  HalfCheetah: { rewardThreshold: 4800 },
  Hopper: { rewardThreshold: 3800 },
  Swimmer: { rewardThreshold: 360 },
  Walker2d: {},
  Ant: { rewardThreshold: 6000 },
  Humanoid: {},
  HumanoidStandup: {},
};

for (const [name, limits] of Object.entries(LIMITS)) {
  const spec = { id: `${name}-v5`, maxEpisodeSteps: 1000, ...limits };
  registerMujoco(name as MujocoTaskName, spec);
}

// Deno fetches what is imported by name before a program starts: 22 MB.
const WASM = import.meta.resolve("./wasm.ts");

/**
 * Loads MuJoCo in WebAssembly where a setting asks for it. A program that always
 * wants it imports `@bellman/envs/mujoco/wasm` instead.
 *
 * @throws {Error} If the npm package cannot be loaded.
 *
 * @example
 * ```ts
 * import { make } from "@bellman/envs";
 * import { isMujocoInstalled, loadMujocoWasm } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   await loadMujocoWasm();
 *   const env = make("Hopper-v5", { kwargs: { engine: "wasm" } });
 *   assertEquals(env.observationSpace.type, "box");
 *   env.close();
 * }
 * ```
 */
export async function loadMujocoWasm(): Promise<void> {
  await import(/* webpackIgnore: true */ /* @vite-ignore */ WASM);
}
