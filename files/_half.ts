/** Converts float16 (IEEE 754 binary16) to float32. */
export function fromHalves(bits: Uint16Array): Float32Array {
  return Float32Array.from(bits, (half) => {
    const sign = half & 0x8000 ? -1 : 1, exponent = half >> 10 & 31;
    const fraction = (half & 1023) / 1024;
    if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
    return exponent === 0
      ? sign * fraction * 2 ** -14
      : sign * (1 + fraction) * 2 ** (exponent - 15);
  });
}
