import { assert, assertEquals, assertThrows } from "@std/assert";
import { openXla } from "./open_xla.ts";
import { XlaError } from "./plugin.ts";
import {
  ADD_TO_STATE,
  addAndMultiply,
  NO_PLUGIN,
} from "./testdata/programs.ts";
import { alignedArray, type ElementType, type TensorArray } from "./tensors.ts";

Deno.test({
  name: "numbers of every type come back as they were [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
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
        const buffer = client.buffer(data, { dtype, shape });
        assertEquals(buffer.read(), data);
        assertEquals(buffer.spec, { dtype, shape });
        buffer.close();
      }
    }
  },
});

Deno.test({
  name: "scalars and empty tensors are buffers, too [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    const scalar = client.buffer(Float32Array.of(7), { shape: [] });
    assertEquals([scalar.length, scalar.read()], [1, Float32Array.of(7)]);
    const empty = client.buffer(new Float32Array(), { shape: [0, 4] });
    assertEquals([empty.length, empty.read()], [0, new Float32Array()]);
  },
});

Deno.test({
  name: "arrays are used in place where they are aligned to 64 bytes [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    const room = alignedArray("f32", 64);
    for (const use of ["borrow", "share"] as const) {
      for (const offset of [0, 16, 32]) {
        const data = room.subarray(offset, offset + 16);
        const buffer = client.buffer(data, { use });
        assert(buffer.isInPlace);
        data.fill(offset);
        assertEquals(buffer.read(), data);
      }
      for (const offset of [1, 4, 8]) {
        // XLA would copy it without a word.
        assertThrows(
          () => client.buffer(room.subarray(offset, offset + 4), { use }),
          TypeError,
          `Cannot ${use} a Float32Array that is not aligned to 64 bytes: expected one of alignedArray`,
        );
      }
    }
    const copy = client.buffer(room, { use: "copy" });
    room.fill(1);
    assertEquals([copy.isInPlace, copy.read()[0]], [false, 0]);
  },
});

Deno.test({
  name: "arrays that do not fit are refused [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    assertThrows(
      () => client.buffer(new Float32Array(6), { shape: [2, 4] }),
      TypeError,
      "Cannot use Float32Array(6) as tensor<2x4xf32>: expected Float32Array(8)",
    );
    assertThrows(
      () => client.buffer(new Float32Array(4), { dtype: "i32" }),
      TypeError,
      "Cannot use Float32Array(4) as tensor<4xi32>: expected Int32Array(4)",
    );
    const strange = new Uint8ClampedArray(4) as unknown as Uint8Array;
    assertThrows(() => client.buffer(strange), TypeError, "Cannot use Uint8Cl");
  },
});

Deno.test({
  name: "a donated buffer is used up [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    const add = client.compile(ADD_TO_STATE);
    const numbers = () => client.buffer(new Float32Array(4).fill(1));
    const [state, step] = [numbers(), numbers()];
    const [sum] = add.execute([state, step]);
    assertEquals(sum.read(), new Float32Array(4).fill(2));
    assertThrows(() => add.execute([state, step]), TypeError, "freed or donat");
    state.close();
    // One buffer cannot be donated and read.
    const error = assertThrows(() => add.execute([step, step]), XlaError);
    assert(
      error.message.startsWith("Cannot run the program: INVALID_ARGUMENT"),
    );
    assertEquals(step.isDonated, false);
    assertEquals(step.read(), new Float32Array(4).fill(1));
  },
});

Deno.test({
  name: "an array that is shared lives on in the output [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    const array = alignedArray("f32", 4);
    const add = client.compile(ADD_TO_STATE);
    using step = client.buffer(new Float32Array(4).fill(3));
    using sum = add.execute([client.buffer(array, { use: "share" }), step])[0];
    assertEquals(array, new Float32Array(4).fill(3));
    assert(sum.isInPlace);
  },
});

Deno.test({
  name: "a buffer that was freed is refused [XLA]",
  ignore: NO_PLUGIN,
  fn() {
    using client = openXla();
    const buffer = client.buffer(new Float32Array(4));
    const program = client.compile(addAndMultiply(4));
    buffer.close();
    buffer.close();
    for (
      const use of [
        () => buffer.read(),
        () => program.execute([buffer, buffer]),
        () => program.bind([buffer, buffer]),
      ]
    ) assertThrows(use, TypeError, "Cannot use a tensor<4xf32> that was freed");
  },
});
