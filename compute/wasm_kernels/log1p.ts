import { heapView, registerWasmKernel } from "./_kernel.ts";
import type { WasmKernel } from "./_kernel.ts";

/** `log(1 + x)`, exact near 0, where the stock kernel adds the 1 first. */
const log1p: WasmKernel = ({ inputs, backend }) => {
  const { x } = inputs;
  const out = backend.makeOutput(x.shape, "float32");
  const from = heapView(backend, x), to = heapView(backend, out);
  for (let i = 0; i < from.length; i++) to[i] = Math.log1p(from[i]);
  return out;
};

/** Registers the kernel in place of the stock one. */
export function registerLog1p(): void {
  registerWasmKernel("Log1p", { kernel: log1p });
}
