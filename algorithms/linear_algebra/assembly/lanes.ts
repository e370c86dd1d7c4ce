// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.
/** Vectors of numbers in double or single precision: two lanes, or four. */

/** a * b + c on all lanes, in one rounding where the build allows it. */
export function fma<T>(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return v128.relaxed_madd<T>(a, b, c);
  return v128.add<T>(v128.mul<T>(a, b), c);
}

/** The sum of all lanes. */
export function total<T>(a: v128): T {
  if (sizeof<T>() == 8) {
    return <T> (f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1));
  }
  const left = f32x4.extract_lane(a, 0) + f32x4.extract_lane(a, 1);
  return <T> (left + f32x4.extract_lane(a, 2) + f32x4.extract_lane(a, 3));
}

/** Bytes of `count` numbers. */
export function bytes<T>(count: i32): usize {
  return (<usize> count) * sizeof<T>();
}

/** The largest whole number of vectors that `count` numbers fill, in bytes. */
export function wholeBytes<T>(count: i32): usize {
  return bytes<T>(count) & ~15;
}
