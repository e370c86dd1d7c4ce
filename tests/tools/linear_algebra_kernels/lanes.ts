// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.

/** a * b + c on two lanes, in one rounding where the build allows it. */
export function fma(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f64x2.relaxed_madd(a, b, c);
  return f64x2.add(f64x2.mul(a, b), c);
}

/** The sum of both lanes. */
export function total(a: v128): f64 {
  return f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1);
}

/** Bytes of `count` numbers. */
export function bytes(count: i32): usize {
  return (<usize> count) << 3;
}
