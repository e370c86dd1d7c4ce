import * as tf from "@tensorflow/tfjs";
import { trace } from "../tracing/trace.ts";

/**
 * Traces a function of an image that runs one kernel. Errors name this file:
 * those of the kernels' own folder are never where a program called for one.
 */
export function traceKernel(name: string): void {
  const x = { shape: [1, 2, 2, 1], dtype: "float32" } as const;
  trace(({ x }) => ({ y: tf.engine().runKernel(name, { x }) }), { x });
}
