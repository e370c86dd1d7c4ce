import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { loadTensorFlowBackend } from "./mod.ts";
import { nativeTest, runDeno, useTensorFlow } from "./testdata/native.ts";

const ADDON = Deno.env.get("BELLMAN_TENSORFLOW_ADDON");

// Building the addon takes a compiler: the README of this folder says how.
Deno.test(
  "tfjs-node's own addon computes and frees its tensors [BELLMAN_TENSORFLOW_ADDON]",
  { ignore: !ADDON },
  async () => {
    const { code, stdout } = await runDeno(`
    import * as tf from "@tensorflow/tfjs";
    import { loadTensorFlowBackend } from "./mod.ts";
    import { nativeTensors } from "./testdata/native.ts";
    tf.enableProdMode();
    const description = await loadTensorFlowBackend();
    await tf.setBackend("tensorflow");
    const gradient = tf.grad((x) => tf.sum(tf.square(tf.tanh(x))));
    const result = tf.tidy(() => gradient(tf.tensor1d([0.5])).dataSync()[0]);
    console.log(description.endsWith("tfjs_binding.node"));
    console.log(result.toFixed(5), nativeTensors());`);
    assertEquals(code, 0);
    // 2 tanh(x) (1 - tanh(x)^2)
    const expected = 2 * Math.tanh(0.5) * (1 - Math.tanh(0.5) ** 2);
    assertEquals(stdout, `true\n${expected.toFixed(5)} 0\n`);
  },
);

/** Loads the backend and prints how that ended. */
const LOAD = `
import { loadTensorFlowBackend } from "./mod.ts";
try {
  console.log(await loadTensorFlowBackend());
} catch (error) {
  console.log(error.name + ": " + error.message);
}`;

Deno.test("a wrong library path is one clear line", async () => {
  const { stdout } = await runDeno(LOAD, {
    env: { BELLMAN_LIBTENSORFLOW: "/nowhere/libtensorflow.so" },
  });
  assertEquals(
    stdout,
    "Error: Cannot find the TensorFlow library '/nowhere/libtensorflow.so'\n",
  );
});

Deno.test("a file that is no library is one clear line", async () => {
  const file = new URL("mod.ts", import.meta.url).pathname;
  const { stdout } = await runDeno(LOAD, {
    env: { BELLMAN_LIBTENSORFLOW: file },
  });
  assert(
    stdout.startsWith(`Error: Cannot open the TensorFlow library '${file}': `),
    stdout,
  );
  assertEquals(stdout.trimEnd().split("\n").length, 1);
});

Deno.test("a file that is no addon is one clear line", async () => {
  const file = await Deno.makeTempFile({ suffix: ".node" });
  const { stdout } = await runDeno(LOAD, {
    env: { BELLMAN_TENSORFLOW_ADDON: file },
  });
  await Deno.remove(file);
  assert(
    stdout.startsWith(`Error: Cannot load the TensorFlow addon '${file}': `),
    stdout,
  );
  assertEquals(stdout.trimEnd().split("\n").length, 1);
});

nativeTest(
  "without --allow-ffi it says which permission it wants",
  async () => {
    const { stdout } = await runDeno(LOAD, {
      permissions: [
        "--allow-read",
        "--allow-env",
        "--allow-sys",
        "--no-prompt",
      ],
    });
    assert(stdout.includes("it needs the permission --allow-ffi"), stdout);
    assertEquals(stdout.trimEnd().split("\n").length, 1);
  },
);

nativeTest("TensorFlow says nothing as it starts and computes", async () => {
  const { code, stdout, stderr } = await runDeno(
    `${LOAD}
    import * as tf from "@tensorflow/tfjs";
    tf.enableProdMode();
    await tf.setBackend("tensorflow");
    console.log(tf.matMul(tf.ones([2, 3]), tf.ones([3, 1])).dataSync().join());`,
    { env: { BELLMAN_TENSORFLOW_THREADS: "1" } },
  );
  assertEquals(code, 0);
  assertEquals(stderr, "");
  assertEquals(stdout.trimEnd().split("\n").at(-1), "3,3");
});

nativeTest("a number of threads that is none is refused", async () => {
  const { stdout } = await runDeno(LOAD, {
    env: { BELLMAN_TENSORFLOW_THREADS: "two" },
  });
  assertEquals(
    stdout,
    "RangeError: Cannot use two TensorFlow threads: " +
      "wanted a whole number from 0 on\n",
  );
});

nativeTest("loading twice gives the same backend", async () => {
  const first = await loadTensorFlowBackend();
  const backend = tf.findBackend("tensorflow");
  assertEquals(await loadTensorFlowBackend(), first);
  assert(first.includes("TensorFlow 2."), first);
  await useTensorFlow();
  assert(tf.backend() === backend);
});
