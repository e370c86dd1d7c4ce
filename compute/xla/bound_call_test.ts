import { assert, assertEquals, assertThrows } from "@std/assert";
import type { ArrayUse } from "./bound_call.ts";
import { openXla } from "./open_xla.ts";
import {
  alignedArray,
  type ElementType,
  formatSpec,
  type TensorArray,
} from "./tensors.ts";
import {
  ADD_TO_STATE,
  addAndMultiply,
  runOnce,
  test,
} from "./testdata/programs.ts";

/** A program that returns what it takes. */
function identity(type: string): string {
  return `func.func @main(%a: ${type}) -> ${type} {\n return %a : ${type}\n}`;
}

test("numbers of every type and shape come back as they were", () => {
  using client = openXla({ cache: false });
  const arrays: Partial<Record<ElementType, TensorArray>> = {
    i1: Uint8Array.of(0, 1, 1),
    i8: Int8Array.of(-128, 0, 127),
    i16: Int16Array.of(-32768, 0, 32767),
    i32: Int32Array.of(-(2 ** 31), 0, 2 ** 31 - 1),
    i64: BigInt64Array.of(-(2n ** 63n), 0n, 2n ** 63n - 1n),
    ui8: Uint8Array.of(0, 1, 255),
    ui16: Uint16Array.of(0, 1, 65535),
    ui32: Uint32Array.of(0, 1, 2 ** 32 - 1),
    ui64: BigUint64Array.of(0n, 1n, 2n ** 64n - 1n),
    f32: Float32Array.of(-Infinity, 1.5, NaN),
    f64: Float64Array.of(-Infinity, 1e-300, NaN),
  };
  for (const [name, data] of Object.entries(arrays)) {
    const dtype = name as ElementType;
    for (const shape of [[3], [1, 3, 1], [3, 1, 1, 1, 1, 1, 1, 1, 1]]) {
      const program = client.compile(identity(formatSpec({ dtype, shape })));
      assertEquals(runOnce(program, data), [data]);
    }
  }
  for (const data of [Float32Array.of(7), new Float32Array()]) {
    const shape = data.length === 1 ? [] : [0, 4];
    const program = client.compile(
      identity(formatSpec({ dtype: "f32", shape })),
    );
    assertEquals(runOnce(program, data), [data]);
  }
});

test("arrays are used in place where they are aligned to 64 bytes", () => {
  using client = openXla();
  const program = client.compile(addAndMultiply(4));
  const room = alignedArray("f32", 64), ones = new Float32Array(4).fill(1);
  const sumOf = (array: Float32Array, use: ArrayUse) => {
    using call = program.bind([{ array, use }, { array: ones }]);
    array.fill(5);
    call.run();
    return call.read(0)[0];
  };
  for (const offset of [0, 16, 32]) {
    const array = room.subarray(offset, offset + 4);
    assertEquals(sumOf(array, "borrow"), 6);
  }
  assertEquals(sumOf(new Float32Array(4), "copy"), 1);
  for (const offset of [1, 4, 8]) {
    // XLA would copy it without a word.
    assertThrows(
      () => sumOf(room.subarray(offset, offset + 4), "borrow"),
      TypeError,
      "Cannot borrow the array of input 0, a Float32Array that is not aligned to 64 bytes: expected one of alignedArray",
    );
  }
});

test("a state that shares an array is written in place", () => {
  using client = openXla();
  const state = alignedArray("f32", 4), step = alignedArray("f32", 4);
  using call = client.compile(ADD_TO_STATE).bind([
    { array: state, use: "share" },
    { array: step, use: "borrow" },
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
});

test("arrays are sent and fetched where a device has memory of its own", () => {
  using client = openXla({ inPlace: false });
  assert(!client.isHost);
  const state = alignedArray("f32", 4), step = new Float32Array(4);
  using call = client.compile(ADD_TO_STATE).bind([
    { array: state, use: "share" },
    { array: step, use: "borrow" },
  ]);
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
  assertEquals(runOnce(client.compile(ADD_TO_STATE), step, step), [
    new Float32Array(4).fill(200),
  ]);
});

test("a state without an array is read as an output", () => {
  using client = openXla();
  const state = new Float32Array(4), step = new Float32Array(4).fill(2);
  using call = client.compile(ADD_TO_STATE)
    .bind([{ array: state }, { array: step }]);
  for (let i = 0; i < 5; i++) call.run();
  assertEquals(call.read(0), new Float32Array(4).fill(10));
  assertEquals(state, new Float32Array(4));
  assertThrows(
    () => call.readInto(0, new Float32Array(5)),
    TypeError,
    "Cannot use Float32Array(5) as tensor<4xf32>: expected Float32Array(4)",
  );
});

test("outputs that are no state are those of the last run", () => {
  using client = openXla();
  const [a, b] = [alignedArray("f32", 3), alignedArray("f32", 3)];
  using call = client.compile(addAndMultiply(3))
    .bind([{ array: a, use: "borrow" }, { array: b, use: "borrow" }]);
  assertThrows(() => call.read(0), TypeError, "nothing was run yet");
  a.set([1, 2, 3]);
  b.set([4, 5, 6]);
  call.run();
  assertEquals(call.read(0), Float32Array.of(5, 7, 9));
  assertEquals(call.read(1), Float32Array.of(4, 10, 18));
  a.fill(0);
  call.run();
  assertEquals(call.read(1), new Float32Array(3));
});

test("inputs of another number, size, type or use are refused", () => {
  using client = openXla();
  const [multiply, add] = [addAndMultiply(4), ADD_TO_STATE]
    .map((text) => client.compile(text));
  const good = { array: new Float32Array(4) };
  const array = alignedArray("f32", 4);
  const cases = [
    [multiply, [good], "Cannot run the program with 1 inputs: expected 2"],
    [
      multiply,
      [good, { array: new Float32Array(6) }],
      "Cannot use Float32Array(6) as input 1, tensor<4xf32>: expected Float32Array(4)",
    ],
    [
      multiply,
      [good, { array: new Int32Array(4) }],
      "Cannot use Int32Array(4) as input 1, tensor<4xf32>: expected Float32Array(4)",
    ],
    [
      multiply,
      [{ array, use: "share" }, good],
      "Cannot share the array of input 0: the program does not donate it",
    ],
    [
      add,
      [{ array, use: "borrow" }, good],
      "Cannot borrow the array of input 0: the program donates it",
    ],
  ] as const;
  for (const [program, inputs, message] of cases) {
    assertThrows(() => program.bind(inputs), TypeError, message);
  }
});
