import { type Graph, type Node, sizeOf } from "../graph/graph.ts";

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

/** Multiplications of matrix products and convolutions. */
export function multiplications(graph: Graph): number {
  return graph.nodes.reduce((sum, node) => sum + costOf(node), 0);
}

function costOf(node: Node): number {
  const { op, inputs, outputs, attributes } = node;
  switch (op) {
    case "BatchMatMul":
    case "Gemm": {
      const [rows, columns] = inputs[0].shape.slice(-2);
      return sizeOf(outputs[0].shape) *
        (attributes.transposeA ? rows : columns);
    }
    case "Conv2D":
      return sizeOf(outputs[0].shape) * sizeOf(inputs[1].shape.slice(0, 3));
    case "Conv2DBackpropInput":
      return sizeOf(inputs[0].shape) * sizeOf(inputs[1].shape.slice(0, 3));
    case "Conv2DBackpropFilter":
      return sizeOf(inputs[1].shape) * sizeOf(outputs[0].shape.slice(0, 3));
    default:
      return 0;
  }
}
