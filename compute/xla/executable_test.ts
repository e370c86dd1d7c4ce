import { assert, assertEquals, assertThrows } from "@std/assert";
import { openXla } from "./open_xla.ts";
import { XlaError } from "./plugin.ts";
import {
  ADD_TO_STATE,
  addAndMultiply,
  runOnce,
  test,
} from "./testdata/programs.ts";

/** A policy of 4-64-64-2 for 16 rows, by hand. */
function forward(params: Float32Array, rows: Float32Array): number[] {
  let at = 0;
  const layer = (inputs: number[], width: number): number[] => {
    const kernel = params.subarray(at, at += inputs.length * width);
    const bias = params.subarray(at, at += width);
    return Array.from(
      bias,
      (it, j) =>
        inputs.reduce((sum, x, i) => sum + x * kernel[i * width + j], it),
    );
  };
  return Array.from({ length: 16 }, (_, row) => {
    at = 0;
    const first = layer([...rows.subarray(4 * row, 4 * row + 4)], 64);
    const second = layer(first.map(Math.tanh), 64);
    return layer(second.map(Math.tanh), 2);
  }).flat();
}

test("a program of JAX computes what it says", () => {
  using client = openXla();
  const url = new URL("testdata/forward.mlir", import.meta.url);
  using program = client.compile(Deno.readTextFileSync(url));
  const params = Float32Array.from({ length: 4610 }, (_, i) => Math.sin(i) / 4);
  const rows = Float32Array.from({ length: 64 }, (_, i) => Math.cos(i));
  const [found] = runOnce(program, params, rows);
  forward(params, rows).forEach((it, i) =>
    assert(Math.abs(it - Number(found[i])) < 1e-5, `${i}: ${it} ${found[i]}`)
  );
});

test("a program tells its memory", () => {
  using client = openXla();
  const { inputs, outputs, aliased } = client.compile(ADD_TO_STATE).memory;
  assertEquals([inputs, outputs, aliased], [32, 16, 16]);
});

test("flags are a program's own, and unknown ones are refused", () => {
  using client = openXla({ cache: false });
  const compile = (flags: Record<string, string | number | boolean>) =>
    client.compile(addAndMultiply(4), { flags });
  compile({ xla_cpu_enable_fast_math: true });
  compile({ xla_backend_optimization_level: 1 });
  assertThrows(() => compile({ xla_no_such_flag: 1 }), XlaError, "no_such");
});

test("a closed program closes its calls", () => {
  using client = openXla();
  const program = client.compile(addAndMultiply(4));
  const input = { array: new Float32Array(4) };
  const call = program.bind([input, input]);
  call.run();
  program.close();
  assertThrows(() => call.run(), TypeError, "Cannot run a call that was cl");
  assertThrows(
    () => program.bind([input, input]),
    TypeError,
    "Cannot bind a program that was closed",
  );
});
