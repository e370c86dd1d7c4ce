/**
 * Assembles a WebAssembly text beside this folder into a JSON text of its
 * bytes: `deno run -P=tools envs/atari/preprocess/testdata/assemble.ts` writes it.
 */
import wabt from "npm:wabt@^1.0.39";

const FOLDER = new URL("../", import.meta.url);
const TEXT = new URL("_screen_kernel.wat", FOLDER);

/** The file of the kernel's bytes. */
export const GENERATED: URL = new URL("_screen_kernel.json", FOLDER);

/** Assembles the text into bytes, as JSON of their base 64. */
export async function assembled(): Promise<string> {
  const { parseWat } = await wabt();
  const text = await Deno.readTextFile(TEXT);
  const module = parseWat("_screen_kernel.wat", text, { simd: true });
  module.validate();
  const { buffer } = module.toBinary({});
  module.destroy();
  return `${JSON.stringify(buffer.toBase64())}\n`;
}

if (import.meta.main) await Deno.writeTextFile(GENERATED, await assembled());
