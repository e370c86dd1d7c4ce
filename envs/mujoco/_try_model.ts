import type { CLayout } from "./_c_layout.ts";
import type { MujocoSymbols } from "./_native_library.ts";

const ERROR_BYTES = 1024;

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).split("\0")[0];
}

/**
 * Computes a model's first state where an error cannot end the process, which it
 * does elsewhere: a model may be sound in itself and yet allow itself too little
 * memory.
 *
 * @param symbols The library's functions.
 * @param layout Its constants.
 * @param model The model.
 * @returns What is wrong with it; undefined for nothing, or if the library is
 * too old to tell.
 */
export function tryModel(
  symbols: MujocoSymbols,
  { constants }: CLayout,
  model: Deno.PointerObject,
): string | undefined {
  const { mjb_makeBatch, mjb_forward, mjb_error, mjb_deleteBatch } = symbols;
  const stage = constants.get("mjSTAGE_ACC");
  if (
    mjb_makeBatch === null || mjb_forward === null || mjb_error === null ||
    mjb_deleteBatch === null || stage === undefined
  ) return undefined;
  // Its settings: one thread, and nothing kept between calls.
  const config = Int32Array.of(1, 0), error = new Uint8Array(ERROR_BYTES);
  const batch = mjb_makeBatch(model, 1, config, error, ERROR_BYTES);
  if (batch === null) return textOf(error);
  try {
    if (mjb_forward(batch, null, 0, stage) === 0) return undefined;
    const text = mjb_error(batch, 0);
    return text === null
      ? "its first state cannot be computed"
      : Deno.UnsafePointerView.getCString(text);
  } finally {
    mjb_deleteBatch(batch);
  }
}
