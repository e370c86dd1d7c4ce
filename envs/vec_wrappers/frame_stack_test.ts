import { assertEquals } from "@std/assert";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { box } from "../space_constructors.ts";
import { ChainEnv } from "../toy/chain_env.ts";
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
