import { numbersOf, registerWasmKernel } from "./_kernel.ts";
import type { WasmKernel } from "./_kernel.ts";

/**
 * Clips each number, and passes NaN on: the stock kernel turns NaN into the
 * lower bound, which would hide that a training run has diverged.
 */
const clipByValue: WasmKernel = ({ inputs, backend, attrs }) => {
  const { x } = inputs;
  const minimum = attrs.clipValueMin as number;
  const maximum = attrs.clipValueMax as number;
  const out = backend.makeOutput(x.shape, x.dtype);
  const from = numbersOf(backend, x), to = numbersOf(backend, out);
  for (let i = 0; i < from.length; i++) {
    const value = from[i];
    to[i] = value < minimum ? minimum : value > maximum ? maximum : value;
  }
  return out;
};

/** Registers the kernel in place of the stock one. */
export function registerClipByValue(): void {
  registerWasmKernel("ClipByValue", { kernel: clipByValue });
}
