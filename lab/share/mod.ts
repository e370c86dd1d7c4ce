/**
 * Folders of trained agents for other people: make, describe and check them.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import { readCard, shareRun } from "@bellman/share";
 * import { assertEquals } from "@std/assert";
 *
 * const root = await Deno.makeTempDir();
 * const settings = { algorithm: "a2c", totalTimesteps: 100 };
 * const { dir } = await trainRun(settings, { dir: `${root}/run` });
 * await shareRun(dir, { out: `${root}/agent`, license: "MIT" });
 * const { name, license, evaluation } = readCard(`${root}/agent`);
 * assertEquals([name, license], ["a2c-CartPole-v1", "mit"]);
 * assertEquals(evaluation.episodes, 100);
 * ```
 *
 * @module
 */
export {
  type CardClaims,
  type CardEvaluation,
  type CardSeeds,
  readCard,
} from "./card.ts";
export {
  type CheckOptions,
  type CheckResult,
  checkShared,
} from "./check_shared.ts";
export { type ShareOptions, shareRun } from "./share_run.ts";
