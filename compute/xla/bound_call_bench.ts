/**
 * Time of calls: a policy's forward pass for 16 environments (4-64-64-2, tanh)
 * and an update of A2C (80 rows, two networks of 4-64-64, RMSProp). The programs
 * were made by JAX 0.11.2.
 */
import type { BoundCall } from "./bound_call.ts";
import type { XlaClient } from "./client.ts";
import { isXlaInstalled } from "./install/installed.ts";
import { openXla } from "./open_xla.ts";
import { alignedArray, sizeOf, type TensorArray } from "./tensors.ts";

/** A program with arrays of numbers between 0 and 0.1. */
function prepare(
  client: XlaClient,
  name: string,
  states: number,
): { call: BoundCall; arrays: TensorArray[]; fresh: TensorArray[] } {
  const url = new URL(`testdata/${name}.mlir`, import.meta.url);
  const program = client.compile(Deno.readTextFileSync(url));
  const arrays = program.inputs.map(({ dtype, shape }) => {
    const array = alignedArray(dtype as "f32" | "i32", sizeOf(shape));
    if (dtype === "f32") array.forEach((_, i) => array[i] = (i % 11) / 110);
    return array;
  });
  const call = program.bind(arrays.map((array, i) => {
    const use = i < states ? "share" : "borrow";
    return { array, use };
  }));
  return { call, arrays, fresh: arrays.map((it) => it.slice()) };
}

/** Benches of a client. */
function bench(client: XlaClient): void {
  {
    const { call, arrays: [, observations], fresh } = prepare(
      client,
      "forward",
      0,
    );
    const actions = alignedArray("f32", 32);
    Deno.bench("forward of 16, read", {
      group: "forward",
      baseline: true,
    }, () => {
      observations.set(fresh[1] as never);
      call.run();
      call.readInto(0, actions);
    });
  }
  {
    const { call, arrays, fresh } = prepare(client, "forward_into", 1);
    Deno.bench("forward of 16, into a shared array", {
      group: "forward",
    }, () => {
      arrays[2].set(fresh[2] as never);
      call.run();
    });
  }
  {
    const { call, arrays, fresh } = prepare(client, "a2c_update", 2);
    Deno.bench("update of A2C", () => {
      for (let i = 2; i < arrays.length; i++) arrays[i].set(fresh[i] as never);
      call.run();
    });
  }
}

if (isXlaInstalled()) bench(openXla());
