import { assertEquals } from "@std/assert";
import { runDeno } from "./_testing.ts";

const ADDON = Deno.env.get("BELLMAN_TENSORFLOW_ADDON");

// Building the addon takes a compiler: the README of this folder says how.
Deno.test({
  name: ADDON
    ? "tfjs-node's own addon computes and frees its tensors"
    : "tfjs-node's own addon (BELLMAN_TENSORFLOW_ADDON is not set)",
  ignore: !ADDON,
  fn: async () => {
    const { code, stdout } = await runDeno(`
      import * as tf from "@tensorflow/tfjs";
      import { loadTensorFlowBackend } from "./mod.ts";
      import { nativeTensors } from "./_testing.ts";
      tf.enableProdMode();
      const { description } = await loadTensorFlowBackend();
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
});
