/**
 * Vector environments on the nodes of a Ray cluster.
 *
 * @example
 * ```ts
 * import { RayVecEnv } from "@bellman/envs/ray";
 * import { assertThrows } from "@std/assert";
 *
 * const python = "no-such-python";
 * const options = { cluster: "10.0.0.1:6379", python, numEnvs: 2 };
 * assertThrows(() => new RayVecEnv("CartPole-v1", options), TypeError, python);
 * ```
 *
 * @module
 */
export * from "./ray_options.ts";
export * from "./ray_program.ts";
export * from "./ray_vec_env.ts";
export * from "./ray_workers.ts";
