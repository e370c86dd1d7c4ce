import {
  callKernel,
  floatsOf,
  mendKernel,
  numbersOf,
  registerKernel,
  type WasmKernel,
} from "./kernel.ts";

/** Casts to `bool` by comparing with 0: the stock kernel keeps the low byte. */
const cast = (stock: WasmKernel): WasmKernel => (call) => {
  const { inputs: { x }, backend, attrs } = call;
  if (attrs.dtype !== "bool") return stock(call);
  const out = backend.makeOutput(x.shape, "bool");
  const from = numbersOf(backend, x), to = numbersOf(backend, out);
  for (let i = 0; i < from.length; i++) to[i] = from[i] === 0 ? 0 : 1;
  return out;
};

/** Makes one-hot rows of any type: the stock kernel is right for int32 alone. */
const oneHot = (stock: WasmKernel): WasmKernel => (call) => {
  const { backend, attrs } = call;
  const whole = stock({ ...call, attrs: { ...attrs, dtype: "int32" } });
  if (attrs.dtype === "int32") return whole;
  const cast = callKernel("Cast", {
    inputs: { x: whole },
    backend,
    attrs: { dtype: attrs.dtype },
  });
  backend.disposeData(whole.dataId);
  return cast;
};

/**
 * Clips each number and passes NaN on: the stock kernel turns NaN into the
 * lower bound, which would hide that a training run has diverged.
 */
const clipByValue: WasmKernel = ({ inputs: { x }, backend, attrs }) => {
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

/** Computes `log(1 + x)`, exact near 0, where the stock kernel adds the 1 first. */
const log1p: WasmKernel = ({ inputs: { x }, backend }) => {
  const out = backend.makeOutput(x.shape, "float32");
  const from = floatsOf(backend, x), to = floatsOf(backend, out);
  for (let i = 0; i < from.length; i++) to[i] = Math.log1p(from[i]);
  return out;
};

/** Below this, the sigmoid's form would lose digits to cancellation. */
const SERIES_LIMIT = 0.25;

/** Sums the Taylor series of tanh up to x^9: exact to float32 below the limit. */
function tanhSeries(x: number): number {
  const s = x * x;
  return x *
    (1 + s * (-1 / 3 + s * (2 / 15 + s * (-17 / 315 + s * (62 / 2835)))));
}

/**
 * Computes the hyperbolic tangent as `2 sigmoid(2x) - 1`. The stock kernel takes
 * one scalar library call an element; the sigmoid is vectorised.
 */
const tanh: WasmKernel = ({ inputs: { x }, backend }) => {
  const doubled = backend.makeOutput(x.shape, "float32");
  const from = floatsOf(backend, x), twice = floatsOf(backend, doubled);
  for (let i = 0; i < from.length; i++) twice[i] = 2 * from[i];
  const out = callKernel("Sigmoid", { inputs: { x: doubled }, backend });
  backend.disposeData(doubled.dataId);
  // The memory may have grown and moved: views are taken anew.
  const values = floatsOf(backend, x), target = floatsOf(backend, out);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    target[i] = Math.abs(value) < SERIES_LIMIT
      ? tanhSeries(value)
      : 2 * target[i] - 1;
  }
  return out;
};

/** Registers the kernels that work number by number. */
export function registerElementwise(): void {
  mendKernel("Cast", cast);
  mendKernel("OneHot", oneHot);
  registerKernel("ClipByValue", clipByValue);
  registerKernel("Log1p", log1p);
  registerKernel("Tanh", tanh);
}
