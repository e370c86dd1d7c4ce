import { assert, assertEquals } from "@std/assert";
import { fanInUniform, fanInUniformBias } from "./fan_in_uniform.ts";
import { seededRandom } from "./testdata/random.ts";

/** Asserts a uniform spread over ±limit. */
function assertSpread(values: Float32Array, limit: number): void {
  assert(values.every((it) => Math.abs(it) <= limit));
  const variance = values.reduce((sum, it) => sum + it * it, 0) / values.length;
  const expected = limit * limit / 3;
  assert(Math.abs(variance / expected - 1) < 0.1, `variance ${variance}`);
  const mean = values.reduce((sum, it) => sum + it, 0) / values.length;
  assert(Math.abs(mean) < 0.05 * limit, `mean ${mean}`);
}

Deno.test("kernels and biases are spread by the inputs of a unit", () => {
  for (const [shape, fanIn] of [[[16, 500], 16], [[3, 3, 4, 300], 36]]) {
    const kernelShape = shape as number[];
    const limit = 1 / Math.sqrt(fanIn as number);
    const kernel = fanInUniform()(kernelShape, seededRandom(1));
    assertEquals(kernel.length, kernelShape.reduce((a, b) => a * b));
    assertSpread(kernel, limit);
  }
  const bias = fanInUniformBias()([25, 5000], seededRandom(2));
  assertEquals(bias.length, 5000);
  assertSpread(bias, 0.2);
});
