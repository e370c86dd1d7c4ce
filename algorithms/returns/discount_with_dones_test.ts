import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fixture from "../../tests/reference/returns.json" with { type: "json" };
import { discountWithDones } from "./discount_with_dones.ts";
import { assertClose } from "./testdata/trajectories.ts";

for (const { name, inputs, expected } of fixture.nstep) {
  Deno.test(`discountWithDones gives the original's sums: ${name}`, () => {
    const { rewards, dones, gamma } = inputs;
    const options = { numEnvs: 1, numSteps: rewards.length, gamma };
    assertClose(
      discountWithDones(rewards, dones, options),
      expected.discount_with_dones,
    );
  });
}

Deno.test("discountWithDones keeps environments apart", () => {
  const options = { numEnvs: 2, numSteps: 2, gamma: 0.5 };
  assertEquals(
    discountWithDones([1, 2, 4, 8], [0, 0, 1, 0], options),
    Float64Array.of(2, 2, 4, 8),
  );
});

Deno.test("discountWithDones writes into out", () => {
  const out = new Float32Array(2);
  const options = { numEnvs: 1, numSteps: 2, gamma: 0.5, out };
  assertStrictEquals(discountWithDones([1, 1], [0, 0], options), out);
  assertEquals(out, Float32Array.of(1.5, 1));
});

Deno.test("discountWithDones names the array of a wrong length", () => {
  const options = { numEnvs: 1, numSteps: 2 };
  assertThrows(
    () => discountWithDones([1, 1], [0], options),
    RangeError,
    "Cannot discount rewards: dones has 1 numbers, expected 2",
  );
  assertThrows(
    () => discountWithDones([1, 1], [0, 0], { ...options, numEnvs: 1.5 }),
    RangeError,
    "Cannot discount rewards: numEnvs is 1.5, expected a whole number above 0",
  );
});
