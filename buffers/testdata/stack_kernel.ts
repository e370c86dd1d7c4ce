// deno-lint-ignore-file no-console -- a program that prints
/**
 * Assembles `stack_kernel.wat` and prints its bytes as they stand in
 * `replay/stacks.ts`: `deno run -A buffers/testdata/stack_kernel.ts`.
 */
import wabt from "wabt";

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
  const lines = (await assembled()).match(/.{1,72}/g)!;
  console.log(lines.map((line) => `  "${line}"`).join(" +\n"));
}
