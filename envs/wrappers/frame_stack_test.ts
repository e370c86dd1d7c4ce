import type { Env } from "@bellman/types";
import {
  assert,
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { box } from "../spaces/constructors.ts";
import { contains } from "../spaces/values.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/environments.ts";
import { FrameStack } from "./frame_stack.ts";
import { TransformObservation } from "./transforms.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

/** Pictures of 1 by 2 pixels and 2 channels that tell the position. */
function pictures(length: number): Env<Uint8Array, number> {
  const space = box({ low: 0, high: 99, shape: [1, 2, 2], dtype: "uint8" });
  return new TransformObservation(new ChainEnv({ length }), (n) => {
    return Uint8Array.of(n, 10 + n, 20 + n, 30 + n);
  }, { space });
}

/** The same number of a stack of two, where its frames are one whole each. */
function toFirstAxis(_: number, i: number, stack: Uint8Array): number {
  return stack[(i >> 1) % 2 * 4 + (i >> 2) * 2 + i % 2];
}

const make = () => new FrameStack(pictures(6), { size: 3 });

Deno.test("frames are stacked along the channels, oldest first", () => {
  const env = make();
  const { observationSpace } = env;
  assertEquals(
    observationSpace.type === "box" && observationSpace.shape,
    [1, 2, 6],
  );
  env.reset({ seed: 0 });
  env.step(0);
  const { observation } = env.step(0);
  assertEquals(
    observation,
    Uint8Array.of(0, 10, 1, 11, 2, 12, 20, 30, 21, 31, 22, 32),
  );
  assert(contains(observationSpace, observation));
});

Deno.test("a stack of four bytes for each pixel is made of words", () => {
  const space = box({ low: 0, high: 255, shape: [3, 1], dtype: "uint8" });
  let shown = 0;
  const env = new FrameStack(
    new TransformObservation(new ChainEnv({ length: 9 }), () => {
      shown += 50;
      return Uint8Array.of(shown, shown + 1, shown + 2);
    }, { space }),
  );
  assertEquals(
    env.reset({ seed: 0 }),
    Uint8Array.of(50, 50, 50, 50, 51, 51, 51, 51, 52, 52, 52, 52),
  );
  for (let i = 0; i < 3; i++) env.step(0);
  assertEquals(
    env.step(0).observation,
    Uint8Array.of(100, 150, 200, 250, 101, 151, 201, 251, 102, 152, 202, 252),
  );
});

Deno.test("stacks along a first axis have the frames of those along the last", () => {
  const stacks = (axis: "first" | "last") =>
    new FrameStack(pictures(100), { size: 3, axis });
  const [first, last] = [stacks("first"), stacks("last")];
  const { observationSpace } = first;
  assertEquals(
    observationSpace.type === "box" && observationSpace.shape,
    [3, 1, 2, 2],
  );
  /** From [pixel, frame, channel] to [frame, pixel, channel]. */
  const moved = (it: unknown) => {
    const stack = it as Uint8Array;
    return stack.map((_, i) => {
      const frame = Math.floor(i / 4), pixel = (i >> 1) % 2;
      return stack[pixel * 6 + frame * 2 + i % 2];
    });
  };
  for (let episode = 0; episode < 2; episode++) {
    assertEquals(first.reset({ seed: 0 }), moved(last.reset({ seed: 0 })));
    for (let i = 0; i < 80; i++) {
      assertEquals(first.step(0).observation, moved(last.step(0).observation));
    }
  }
});

Deno.test("stacks along a first axis share their frames and last", () => {
  const env = new FrameStack(pictures(100), { size: 3, axis: "first" });
  const stacks = [env.reset({ seed: 0 }) as Uint8Array];
  for (let i = 0; i < 90; i++) {
    stacks.push(env.step(0).observation as Uint8Array);
  }
  for (let i = 0; i < 90; i++) {
    const oldest = Math.max(0, i - 2);
    assertEquals([stacks[i][0], stacks[i][4], stacks[i][8]], [
      oldest,
      Math.max(0, i - 1),
      i,
    ]);
  }
  assertStrictEquals(stacks[5].buffer, stacks[6].buffer);
  assertEquals(stacks[6].byteOffset - stacks[5].byteOffset, 4);
  assertEquals(new Set(stacks.map((it) => it.buffer)).size, 3);
});

Deno.test("before the first frame stands the first one, or zeros", () => {
  const repeated = Uint8Array.of(0, 10, 0, 10, 20, 30, 20, 30);
  const zeros = Uint8Array.of(0, 0, 0, 10, 0, 0, 20, 30);
  for (
    const [padding, first] of [["reset", repeated], ["zero", zeros]] as const
  ) {
    const env = new FrameStack(pictures(6), { size: 2, padding });
    env.reset({ seed: 0 });
    env.step(0);
    assertEquals(env.reset(), first);
    const axis = "first";
    const other = new FrameStack(pictures(6), { size: 2, padding, axis });
    assertEquals(other.reset({ seed: 0 }), first.map(toFirstAxis));
  }
});

Deno.test("zeros before the first frame lie in the space", () => {
  const space = box({ low: 2, high: 4, shape: [1] });
  const inner = () =>
    new TransformObservation(new ChainEnv(), () => Float32Array.of(3), {
      space,
    });
  for (const padding of ["reset", "zero"] as const) {
    const env = new FrameStack(inner(), { size: 2, padding });
    assert(contains(env.observationSpace, env.reset({ seed: 0 })));
  }
  const { observationSpace } = new FrameStack(inner(), { size: 2 });
  assertEquals(observationSpace.type === "box" && observationSpace.low, 2);
});

Deno.test("what cannot be stacked is refused", () => {
  assertRefused({
    "TypeError: Cannot stack observations of a discrete space": () =>
      new FrameStack(new ChainEnv()),
    "RangeError: Cannot make a stack of observations with size 0: expected a whole number":
      () => new FrameStack(pictures(2), { size: 0 }),
  });
});

testSnapshot("FrameStack", make);
testSnapshot(
  "FrameStack along a first axis",
  () => new FrameStack(pictures(6), { size: 3, axis: "first" }),
);

Deno.test("stacks of another size are not gone on from", () => {
  for (const axis of ["first", "last"] as const) {
    const [two, four] = [2, 4].map((size) => {
      const env = new FrameStack(pictures(9), { size, axis });
      env.reset({ seed: 0 });
      return env;
    });
    for (const [env, other] of [[two, four], [four, two]]) {
      assertRefused({
        "RangeError: Cannot restore stacks of ": () => env.load(other.save()),
      });
    }
  }
});

Deno.test("words that mean nothing are refused", () => {
  const refused = [
    [{ padding: "zeros" }, 'with padding "zeros": expected reset, zero'],
    [{ axis: "frist" }, 'with axis "frist": expected first, last'],
  ] as const;
  for (const [options, message] of refused) {
    assertRefused({
      [`RangeError: Cannot make a stack of observations ${message}`]: () =>
        new FrameStack(pictures(9), options as never),
    });
  }
});

/** A chain whose observation is its position, as a box of one number. */
const place = (length: number) => () =>
  new TransformObservation(
    new ChainEnv({ length }),
    (it) => Float32Array.of(it as number),
    { space: box({ low: 0, high: 99, shape: [1] }) },
  );

Deno.test("a stack never reaches over the end of an episode", () => {
  const env = new FrameStack(new SyncVecEnv([place(2), place(9)]), {
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
    const env = new FrameStack(new SyncVecEnv(lengths.map(bytes)), { axis });
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

Deno.test("what is no object is refused as options", () => {
  assertThrows(
    () => new FrameStack(pictures(3), null as never),
    TypeError,
    "Cannot take null as the options of a stack of observations",
  );
});
