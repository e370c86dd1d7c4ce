/**
 * Assembles `stack_kernel.wat` and writes its bytes to
 * `replay/_stack_kernel.json`: `deno run -P=tools buffers/testdata/stack_kernel.ts`.
 */
import wabt from "npm:wabt@^1.0.39";

/** The bytes of the text, in base64. */
export async function assembled(): Promise<string> {
  const { parseWat } = await wabt();
  const text = await Deno.readTextFile(
    new URL("stack_kernel.wat", import.meta.url),
  );
  const module = parseWat("stack_kernel.wat", text, { simd: true });
  module.validate();
  const { buffer } = module.toBinary({});
  module.destroy();
  return buffer.toBase64();
}

if (import.meta.main) {
  await Deno.writeTextFile(
    new URL("../replay/_stack_kernel.json", import.meta.url),
    `{ "wasm": "${await assembled()}" }\n`,
  );
}
