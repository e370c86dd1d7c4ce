import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { FieldDtype } from "../fields.ts";
import { SequenceReplayBuffer } from "../sequences/sequence_replay_buffer.ts";
import { testRandom } from "../testdata/random.ts";
import { flags } from "../testdata/records.ts";
import { assembled } from "../testdata/stack_kernel.ts";
import { ReplayBuffer } from "./replay_buffer.ts";
import kernelBytes from "./_stack_kernel.json" with { type: "json" };

Deno.test("the kernel's bytes are those of its text", async () => {
  assertEquals(kernelBytes.wasm, await assembled());
});

const shapes = fc.constantFrom<number[][]>([8, 8, 1], [9, 9, 1], [5, 16, 1], [
  84,
  84,
  1,
]);

Deno.test("stacks of four frames of bytes are those of any numbers", () => {
  const sizes = fc.record({
    shape: shapes,
    numEnvs: fc.integer({ min: 1, max: 3 }),
    steps: fc.integer({ min: 5, max: 9 }),
    nStep: fc.constantFrom(undefined, { steps: 2, gamma: 0.5 }),
    seed: fc.nat(),
  });
  fc.assert(
    fc.property(sizes, ({ shape, numEnvs, steps, nStep, seed }) => {
      const make = (dtype: FieldDtype) =>
        new ReplayBuffer({
          capacity: steps * numEnvs,
          numEnvs,
          fields: {
            frame: { shape, dtype },
            reward: { shape: [], dtype: "float32" },
            ...flags,
          },
          episodes: {
            next: { after: "frame", again: "frame" },
            stack: { frame: 4 },
            nStep,
          },
        });
      const [bytes, floats] = [make("uint8"), make("float32")];
      const random = testRandom(seed);
      const size = shape.reduce<number>((a, b) => a * b, numEnvs);
      const frames = () =>
        Uint8Array.from({ length: size }, () => random.integer(256));
      const coins = (share: number) =>
        Uint8Array.from(
          { length: numEnvs },
          () => Number(random.uniform() < share),
        );
      let frame = frames();
      for (let step = 0; step < 2 * steps; step++) {
        const after = frames();
        const reward = new Float32Array(numEnvs).fill(step);
        const row = {
          frame,
          reward,
          terminated: coins(0.2),
          truncated: coins(0.1),
          after,
          again: after,
        };
        bytes.add(row);
        floats.add(row);
        frame = after;
        const slots = bytes.slots();
        if (slots.length === 0) continue;
        const [a, b] = [bytes.gather(slots), floats.gather(slots)];
        for (const name of ["frame", "after", "again"] as const) {
          const numbers = b[name] as Float32Array;
          assertEquals(a[name], Uint8Array.from(numbers), `step ${step}`);
        }
      }
    }),
    { numRuns: 30 },
  );
});

Deno.test("segments' stacks of four frames of bytes are those of any numbers", () => {
  const make = (dtype: FieldDtype) =>
    new SequenceReplayBuffer({
      capacity: 12,
      numSteps: 6,
      fields: { frame: { shape: [9, 9, 1], dtype }, ...flags },
      stack: { frame: 4 },
    });
  const [bytes, floats] = [make("uint8"), make("float32")];
  const random = testRandom(1);
  for (let segment = 0; segment < 3; segment++) {
    const row = {
      frame: Uint8Array.from({ length: 9 * 81 }, () => random.integer(256)),
      terminated: Uint8Array.of(0, 0, 1, 0, 0, 0),
      truncated: Uint8Array.of(0, 0, 0, 0, 1, 0),
    };
    bytes.add(row);
    floats.add(row);
  }
  const stacks = floats.gather([1, 0]).frame as Float32Array;
  assertEquals(bytes.gather([1, 0]).frame, Uint8Array.from(stacks));
});
