import { assertEquals, assertThrows } from "@std/assert";
import { ActionClipper, ActionRescaler } from "./_action_transforms.ts";
import { box } from "./space_constructors.ts";

const space = box({ low: [-1, -2], high: [1, 2] });
const KINDS = {
  clip: new ActionClipper(space, 3),
  rescale: new ActionRescaler(space, 3),
};

for (const [verb, transform] of Object.entries(KINDS)) {
  Deno.test(`to ${verb} too few or too many numbers is refused`, () => {
    for (const count of [0, 2, 5, 7]) {
      assertThrows(
        () => transform.apply(new Float32Array(count)),
        RangeError,
        `Cannot ${verb} ${count} numbers of actions: expected 6`,
      );
    }
    assertThrows(
      () => transform.apply(undefined as never),
      RangeError,
      `Cannot ${verb} no numbers of actions: expected 6`,
    );
    assertEquals(transform.apply(new Float32Array(6)).length, 6);
  });
}

Deno.test("whole numbers are not stretched", () => {
  const steps = box({ low: -5, high: 5, shape: [2], dtype: "int32" });
  assertThrows(
    () => new ActionRescaler(steps, 1),
    TypeError,
    "Cannot rescale actions of int32: expected floating-point numbers",
  );
});

Deno.test("each element has its own bounds, in every copy", () => {
  const far = new Float32Array(6).fill(9);
  assertEquals(KINDS.clip.apply(far), Float32Array.of(1, 2, 1, 2, 1, 2));
  const half = new Float32Array(6).fill(0.5);
  assertEquals(
    KINDS.rescale.apply(half),
    Float32Array.of(0.5, 1, 0.5, 1, 0.5, 1),
  );
});
