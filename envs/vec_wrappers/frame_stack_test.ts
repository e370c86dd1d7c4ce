import { assertEquals } from "@std/assert";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { box } from "../space_constructors.ts";
import { ChainEnv } from "../toy/chain_env.ts";
import { FrameStack } from "../wrappers/frame_stack.ts";
import { TransformObservation } from "../wrappers/transform_observation.ts";
import { VecFrameStack } from "./frame_stack.ts";

/** A chain whose observation is its position, as a box of one number. */
const place = (length: number) => () =>
  new TransformObservation(
    new ChainEnv({ length }),
    (it) => Float32Array.of(it as number),
    { space: box({ low: 0, high: 99, shape: [1] }) },
  );

Deno.test("a stack never reaches over the end of an episode", () => {
  const env = new VecFrameStack(new SyncVecEnv([place(2), place(9)]), {
    size: 3,
  });
  const shown = (batch: unknown) => [...batch as Float32Array];
  assertEquals(shown(env.reset({ seed: 0 })), [0, 0, 0, 0, 0, 0]);
  const go = () => env.step(new Int32Array(2));
  assertEquals(shown(go().observations), [0, 0, 1, 0, 0, 1]);
  const ended = go();
  // The first copy's last stack, and the next episode's first one.
  assertEquals(shown(ended.finalObservations).slice(0, 3), [0, 1, 2]);
  assertEquals(shown(ended.observations), [0, 0, 0, 0, 1, 2]);
  assertEquals(shown(go().observations), [0, 0, 1, 1, 2, 3]);
});

/** A chain whose observation is its position, as three bytes. */
const bytes = (length: number) => () =>
  new TransformObservation(
    new ChainEnv({ length }),
    (it) => Uint8Array.of(it as number, 100, 2 * (it as number)),
    { space: box({ low: 0, high: 255, shape: [3, 1], dtype: "uint8" }) },
  );

for (const axis of ["first", "last"] as const) {
  Deno.test(`stacks of bytes are those of single environments, ${axis} axis`, () => {
    const lengths = [2, 5, 30];
    const env = new VecFrameStack(new SyncVecEnv(lengths.map(bytes)), { axis });
    const single = new SyncVecEnv(
      lengths.map((length) => () => new FrameStack(bytes(length)(), { axis })),
    );
    assertEquals(env.observationSpace, single.observationSpace);
    assertEquals(env.reset({ seed: 0 }), single.reset({ seed: 0 }));
    for (let i = 0; i < 40; i++) {
      const ours = env.step(new Int32Array(3));
      const theirs = single.step(new Int32Array(3));
      assertEquals(ours.observations, theirs.observations);
      for (let row = 0; row < 3; row++) {
        if (ours.terminated[row] === 0) continue;
        const last = (batch: unknown) =>
          (batch as Uint8Array).slice(12 * row, 12 * row + 12);
        assertEquals(
          last(ours.finalObservations),
          last(theirs.finalObservations),
        );
      }
    }
  });
}
