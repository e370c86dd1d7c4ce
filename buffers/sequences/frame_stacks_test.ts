import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { decodeFrameStacks } from "./frame_stacks.ts";

/** The stack at a step by its definition: index by index, back to an end. */
function naiveStack(
  frames: number[],
  ends: number[],
  { stack, step }: { stack: number; step: number },
): number[] {
  return Array.from({ length: stack }, (_, i) => {
    const age = stack - 1 - i;
    const between = ends.slice(Math.max(0, step - age), step);
    return between.includes(1) ? 0 : frames[step + i];
  });
}

Deno.test("a stack has the frames of its episode, oldest first", () => {
  const sizes = fc.tuple(
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 5 }),
    fc.constantFrom<number[][]>([], [1], [2, 3], [2, 1, 2]),
  );
  const bits = fc.array(fc.nat(1), { minLength: 27, maxLength: 27 });
  fc.assert(
    fc.property(sizes, bits, ([streams, numSteps, stack, shape], bits) => {
      const size = shape.reduce((a, b) => a * b, 1);
      const channels = shape.at(-1) ?? 1;
      const ends = bits.slice(0, streams * numSteps);
      const count = numSteps + stack;
      const frames = Float32Array.from(
        { length: streams * count * size },
        (_, i) => i + 1,
      );
      const stacks = decodeFrameStacks(frames, ends, {
        shape,
        stack,
        numSteps,
      });
      assertEquals(stacks.length, streams * (numSteps + 1) * size * stack);
      const expected: number[] = [];
      for (let stream = 0; stream < streams; stream++) {
        const own = ends.slice(stream * numSteps, (stream + 1) * numSteps);
        for (let step = 0; step <= numSteps; step++) {
          for (let pixel = 0; pixel < size; pixel += channels) {
            const numbers = Array.from(
              { length: channels },
              (_, channel) =>
                naiveStack(
                  Array.from(
                    { length: count },
                    (_, i) =>
                      frames[(stream * count + i) * size + pixel + channel],
                  ),
                  own,
                  { stack, step },
                ),
            );
            for (let i = 0; i < stack; i++) {
              for (const frame of numbers) {
                expected.push(frame[i]);
              }
            }
          }
        }
      }
      assertEquals([...stacks], expected);
    }),
  );
});

Deno.test("frames and ends must fit each other", () => {
  const options = { shape: [2], stack: 2, numSteps: 3 };
  const decode = (frames: number, ends: number) => () =>
    decodeFrameStacks(new Uint8Array(frames), new Uint8Array(ends), options);
  assertEquals(decode(20, 6)().length, 2 * 4 * 4);
  for (const [frames, ends] of [[20, 3], [9, 3], [10, 4]]) {
    assertThrows(
      decode(frames, ends),
      RangeError,
      `Cannot stack the frames of ${ends} steps from ${frames} numbers: expected 10 for each 3 steps`,
    );
  }
  assertThrows(
    () => decodeFrameStacks(new Uint8Array(2), [0], { ...options, stack: 0 }),
    RangeError,
    "Cannot stack 0 frames: expected a whole number above 0",
  );
});
