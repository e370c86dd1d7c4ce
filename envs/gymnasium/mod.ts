/**
 * Environments of Python's Gymnasium, hosted by Python processes that this
 * package starts. Python with the packages `gymnasium` and `numpy` must be there:
 * the variable `BELLMAN_PYTHON` or the option `python` says which; this program
 * must be permitted to run it (`--allow-run`) and to read the variable
 * (`--allow-env=BELLMAN_PYTHON`).
 *
 * Every space that holds arrays of a fixed size maps: boxes of whole numbers
 * become `int32`, of single bits `uint8`; arrays of several axes of
 * multi-discrete and multi-binary spaces become flat ones, and values of a
 * multi-discrete space count from 0. Texts, graphs, sequences and choices among
 * spaces are refused; a wrapper of Python can change them.
 *
 * @example
 * ```ts
 * import { GymnasiumVecEnv, hasGymnasium } from "@bellman/envs/gymnasium";
 * import { assertEquals } from "@std/assert";
 *
 * if (hasGymnasium()) {
 *   const env = new GymnasiumVecEnv("Taxi-v4", { numEnvs: 4 });
 *   env.reset({ seed: 0 });
 *   assertEquals(env.step(Int32Array.of(0, 1, 2, 3)).rewards.length, 4);
 *   env.close();
 * }
 * ```
 *
 * @module
 */
export * from "./gymnasium_env.ts";
export {
  type GymnasiumOptions,
  hasGymnasium,
  hasPettingZoo,
  type PythonWrapper,
} from "./python.ts";
export * from "./gymnasium_vec_env.ts";
export * from "./petting_zoo_world.ts";
export * from "./register_gymnasium.ts";
