import * as tf from "@tensorflow/tfjs";
import type { TensorFlowBinding } from "../binding.ts";
import { findNativeLibrary } from "../library_search.ts";
import { loadTensorFlowBackend } from "../mod.ts";

const REQUIRED = Deno.env.get("BELLMAN_REQUIRE_TENSORFLOW") === "1";

/** Whether tests that need the native library are left out here. */
export const WITHOUT_LIBRARY: boolean = !REQUIRED && !findNativeLibrary();

/** Registers a test that is ignored without a library. */
export function nativeTest(name: string, run: () => Promise<void>): void {
  Deno.test({
    name: `${name} [TensorFlow]`,
    ignore: WITHOUT_LIBRARY,
    // The library is opened once and stays open.
    sanitizeResources: false,
    fn: run,
  });
}

/** Makes the native backend current. */
export async function useTensorFlow(): Promise<void> {
  await loadTensorFlowBackend();
  await tf.setBackend("tensorflow");
}

/** What the current native backend computes with. */
export function nativeBinding(): TensorFlowBinding {
  return (tf.findBackend("tensorflow") as unknown as {
    binding: TensorFlowBinding;
  }).binding;
}

/** Counts the native tensors that are alive. */
export function nativeTensors(): number {
  return nativeBinding().getNumOfTensors();
}

/** Runs Deno in a separate process, with what it printed. */
export async function runDeno(
  code: string,
  options: { permissions?: string[]; env?: Record<string, string> } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const file = await Deno.makeTempFile({
    dir: new URL("../", import.meta.url).pathname,
    prefix: "_child_",
    suffix: ".ts",
  });
  try {
    await Deno.writeTextFile(file, code);
    const { permissions = ["-A"], env } = options;
    const output = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-check", ...permissions, file],
      env: { ...env, NO_COLOR: "1" },
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return {
      code: output.code,
      stdout: text(output.stdout),
      stderr: text(output.stderr),
    };
  } finally {
    await Deno.remove(file);
  }
}
