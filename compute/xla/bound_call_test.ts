import { assertEquals, assertThrows } from "@std/assert";
import { openXla } from "./open_xla.ts";
import {
  ADD_TO_STATE,
  addAndMultiply,
  NO_PLUGIN,
} from "./testdata/programs.ts";
import { alignedArray } from "./tensors.ts";

Deno.test({
  name: "a state that shares an array is written in place [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    const state = alignedArray("f32", 4), step = alignedArray("f32", 4);
    using call = client.compile(ADD_TO_STATE).bind([
      client.buffer(state, { use: "share" }),
      client.buffer(step, { use: "borrow" }),
    ]);
    for (const number of [1, 10, 100]) {
      step.fill(number);
      call.run();
    }
    assertEquals(state, new Float32Array(4).fill(111));
    // The state can be written, too.
    state.fill(1);
    call.push();
    call.run();
    call.pull();
    assertEquals(state, new Float32Array(4).fill(101));
    assertEquals(call.read(0), state);
  },
});

Deno.test({
  name:
    "arrays are sent and fetched where a device has memory of its own [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla({ inPlace: false });
    const state = alignedArray("f32", 4), step = new Float32Array(4);
    const given = [
      client.buffer(state, { use: "share" }),
      client.buffer(step, { use: "borrow" }),
    ];
    using call = client.compile(ADD_TO_STATE).bind(given);
    for (const number of [1, 10, 100]) {
      step.fill(number);
      call.run();
    }
    assertEquals(state, new Float32Array(4));
    call.pull();
    assertEquals(state, new Float32Array(4).fill(111));
    state.fill(1);
    call.push();
    call.run();
    assertEquals(call.read(0), new Float32Array(4).fill(101));
    // What was given is still there.
    assertEquals(given[1].read(), new Float32Array(4));
    assertEquals([given[1].isInPlace, client.isHost], [false, false]);
    const [sum] = client.compile(ADD_TO_STATE)
      .execute([client.buffer(step), given[1]]);
    assertEquals(sum.read(), step);
  },
});

Deno.test({
  name: "a state without an array is read as an output [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    using step = client.buffer(new Float32Array(4).fill(2));
    const state = client.buffer(new Float32Array(4));
    using call = client.compile(ADD_TO_STATE).bind([state, step]);
    assertThrows(() => state.read(), TypeError, "freed or donated");
    for (let i = 0; i < 5; i++) call.run();
    assertEquals(call.read(0), new Float32Array(4).fill(10));
    assertThrows(
      () => call.readInto(0, new Float32Array(5)),
      TypeError,
      "Cannot use Float32Array(5) as tensor<4xf32>: expected Float32Array(4)",
    );
  },
});

Deno.test({
  name: "outputs that are no state are those of the last run [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    const [a, b] = [alignedArray("f32", 3), alignedArray("f32", 3)];
    using call = client.compile(addAndMultiply(3)).bind(
      [a, b].map((it) => client.buffer(it, { use: "borrow" })),
    );
    assertThrows(() => call.read(0), TypeError, "nothing was run yet");
    a.set([1, 2, 3]);
    b.set([4, 5, 6]);
    call.run();
    assertEquals(call.read(0), Float32Array.of(5, 7, 9));
    assertEquals(call.read(1), Float32Array.of(4, 10, 18));
    a.fill(0);
    call.run();
    assertEquals(call.read(1), new Float32Array(3));
  },
});

Deno.test({
  name: "inputs of another number, shape, type or use are refused [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    const program = client.compile(addAndMultiply(4));
    const good = client.buffer(new Float32Array(4));
    // The plugin itself would read these as if they fitted.
    const square = client.buffer(new Float32Array(4), { shape: [2, 2] });
    const whole = client.buffer(new Int32Array(4));
    const shared = client.buffer(alignedArray("f32", 4), { use: "share" });
    for (
      const [inputs, message] of [
        [[good], "Cannot run the program with 1 inputs: expected 2"],
        [
          [good, square],
          "with a tensor<2x2xf32> as input 1: expected a tensor<4xf32>",
        ],
        [
          [good, whole],
          "with a tensor<4xi32> as input 1: expected a tensor<4xf32>",
        ],
        [
          [shared, good],
          "Cannot share the array of input 0: the program does not donate it",
        ],
      ] as const
    ) {
      assertThrows(() => program.bind(inputs), TypeError, message);
      assertThrows(() => program.execute(inputs), TypeError, message);
    }
  },
});

Deno.test({
  name: "an array that is borrowed cannot be a state [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    const array = alignedArray("f32", 4);
    const borrowed = client.buffer(array, { use: "borrow" });
    assertThrows(
      () => client.compile(ADD_TO_STATE).bind([borrowed, borrowed]),
      TypeError,
      "Cannot borrow the array of input 0: the program donates it",
    );
  },
});
