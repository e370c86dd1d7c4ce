/**
 * Runs models while the collector moves and frees what it may: prints how often
 * a result was right, and the memory that was left behind. Runs on Deno and on
 * Node with `--expose-gc`; ends with the exit code 7, the last session open.
 */
import process from "node:process";
import { encodeModel } from "../../onnx/model_builder.ts";
import { OnnxSession } from "../onnx_session.ts";

const RUNS = 3_000;
const MEGABYTE = 2 ** 20;
const collect = (globalThis as unknown as { gc(): void }).gc;

/** A session of `y = x + x`, for numbers of one shape. */
function doubling(shape: readonly number[]): OnnxSession {
  const port = { dtype: "float32", shape } as const;
  const model = encodeModel({
    inputs: [{ name: "x", ...port }],
    outputs: [{ name: "y", ...port }],
    nodes: [{
      op: "Add",
      domain: "",
      inputs: ["x", "x"],
      outputs: ["y"],
      attributes: {},
    }],
    initializers: [],
  });
  return new OnnxSession(model, { threads: 1 });
}

/** Makes arrays that native code is given, which nothing else points to. */
function bound(session: OnnxSession, shape: readonly number[]) {
  const size = shape.reduce((a, b) => a * b, 1);
  const x = new Float32Array(size), y = new Float32Array(size);
  const port = { shape, dtype: "float32" } as const;
  return session.bind([{ name: "x", data: x, ...port }], [
    { name: "y", data: y, ...port },
  ]);
}

/** Counts runs whose results were right, among arrays that come and go. */
function countRight(shape: readonly number[]): number {
  const binding = bound(doubling(shape), shape);
  const [x, y] = binding.arrays;
  let right = 0;
  let around: Float32Array[] = [];
  for (let i = 0; i < RUNS; i++) {
    around.push(new Float32Array(x.length).fill(-1));
    if (i % 100 === 0) {
      around = [];
      collect();
    }
    x.fill(i);
    binding.run();
    if (y.every((it) => it === 2 * i)) right++;
  }
  return right;
}

/** Makes sessions and bindings of which none is closed. */
async function leave(times: number): Promise<number> {
  for (let i = 0; i < times; i++) {
    bound(doubling([2]), [2]).run();
    if (i % 50 !== 0) continue;
    collect();
    // What is collected is freed by a task of its own.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return process.memoryUsage().rss / MEGABYTE;
}

const right = [[], [2], [3000]].map(countRight);
const before = await leave(200);
const grown = await leave(600) - before;
process.stdout.write(JSON.stringify({ right, grown: Math.round(grown) }));
process.exitCode = 7;
