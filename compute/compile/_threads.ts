import type { Graph } from "../graph/graph.ts";
import { multiplications } from "../graph/multiplications.ts";

/**
 * Multiplications from which all cores are used. Below, waking the others costs
 * more than they save; see the table in the package's README.
 */
const MANY_MULTIPLICATIONS = 1e7;

/** More than any machine has use for: as many would be started. */
const MAX_THREADS = 1024;

/** Throws unless threads can be asked for like this. */
export function checkThreads(threads: number | "auto"): void {
  if (threads === "auto") return;
  const fits = Number.isInteger(threads) && threads >= 1 &&
    threads <= MAX_THREADS;
  if (fits) return;
  throw new RangeError(
    `Cannot run on ${threads} threads: expected a whole number from 1 to ${MAX_THREADS}, or 'auto'`,
  );
}

/** Threads for a graph: as they were asked for, or by the work there is. */
export function threadsFor(graph: Graph, threads: number | "auto"): number {
  if (threads !== "auto") return threads;
  return multiplications(graph) < MANY_MULTIPLICATIONS
    ? 1
    : navigator.hardwareConcurrency;
}
