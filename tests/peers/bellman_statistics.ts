// deno-lint-ignore-file no-console -- a program that prints
/**
 * Milliseconds of intervals by stratified bootstrap, as rliable_statistics.py
 * prints them for rliable: JSON.
 */
import { SeededRandom } from "@bellman/envs";
import { interquartileMean, stratifiedBootstrap } from "@bellman/statistics";
import { medianMs } from "./median_ms.ts";

const { runs, tasks, resamples } = JSON.parse(Deno.args[0]);
const random = new SeededRandom(0);
const scores = Array.from(
  { length: runs },
  () => Array.from({ length: tasks }, () => random.normal()),
);
const iqm = medianMs(
  () => stratifiedBootstrap(scores, interquartileMean, { random, resamples }),
  { runs: 5, warmUp: 1 },
);
console.log(JSON.stringify({ iqm }));
