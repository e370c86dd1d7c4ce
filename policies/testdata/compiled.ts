import { compile, selectBackend } from "@bellman/compute";
import { isXlaInstalled } from "@bellman/compute/xla";
import * as tf from "@tensorflow/tfjs";
import { assertClose } from "./assertions.ts";
import { values } from "./backends.ts";

type Tensors = Record<string, tf.Tensor>;

/** Tests that a compiled function gives what it gives eagerly. */
export function testCompiled(
  name: string,
  inputs: () => Tensors,
  fn: (inputs: Tensors) => Tensors,
): void {
  for (const engine of ["onnx", "xla"] as const) {
    Deno.test({
      name: `${name} (compiled) ${engine === "xla" ? "[XLA]" : `(${engine})`}`,
      ignore: engine === "xla" && !isXlaInstalled(),
      async fn() {
        await selectBackend("cpu");
        tf.tidy(() => {
          const given = inputs();
          const compiled = compile(fn, { inputs: given, engine });
          const results = compiled.run(given) as Record<string, Float32Array>;
          for (const [path, expected] of Object.entries(fn(given))) {
            assertClose(Array.from(results[path]), values(expected), 2e-5);
          }
        });
      },
    });
  }
}
