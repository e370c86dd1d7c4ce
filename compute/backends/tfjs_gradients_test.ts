import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "./select_backend.ts";

const CORE = new URL(".", import.meta.resolve("@tensorflow/tfjs"));

/** Finds what a pattern captures in the modules of a folder of tfjs-core. */
async function foundIn(folder: string, pattern: RegExp): Promise<string[]> {
  const found: string[] = [];
  const inside = new URL(folder, CORE);
  for await (const { name } of Deno.readDir(inside)) {
    if (!/(?<!_test)\.js$/.test(name)) continue;
    const text = await Deno.readTextFile(new URL(name, inside));
    found.push(...[...text.matchAll(pattern)].map((it) => it[1]));
  }
  return found;
}

Deno.test("every gradient of tfjs-core is registered", async () => {
  const kernels = await foundIn("gradients/", /kernelName: (\w+)/g);
  assertEquals(kernels.length, 101);
  const names = tf as unknown as Record<string, string>;
  const missing = kernels
    .filter((it) => tf.getGradient(names[it]) === undefined);
  assertEquals(missing, []);
});

Deno.test("every method of tensors is there", async () => {
  const methods = await foundIn(
    "public/chained_ops/",
    /prototype\.(\w+) =/g,
  );
  assert(methods.length > 100);
  assertEquals(methods.filter((it) => !(it in tf.Tensor.prototype)), []);
});

Deno.test("methods and gradients compute", async () => {
  await selectBackend("cpu");
  const gradient = tf.grad((x) => x.square().mul(x).sum());
  assertEquals([...gradient(tf.tensor1d([1, 2])).dataSync()], [3, 12]);
});
