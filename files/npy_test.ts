import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { decodeNpy, encodeNpy, type NpyArray, type NpyDtype } from "./npy.ts";
import { numberArrays } from "./testdata/number_arrays.ts";
import { assertRefused } from "../tests/testdata/refused.ts";

const text = new TextEncoder();

/** A file with this header, filled up with blanks, and these bytes. */
function file(
  header: string,
  body: ArrayBufferView = new Uint8Array(),
  version = 1,
): Uint8Array {
  const start = version === 1 ? 10 : 12;
  const bytes = new Uint8Array(start + header.length + body.byteLength);
  bytes.set([0x93, ...text.encode("NUMPY"), version, 0]);
  new DataView(bytes.buffer).setUint16(8, header.length, true);
  bytes.set(text.encode(header), start);
  bytes.set(
    new Uint8Array(body.buffer, body.byteOffset, body.byteLength),
    start + header.length,
  );
  return bytes;
}

/** Ways to lay so many numbers out. */
function shapes(length: number): number[][] {
  const all = [[length], [length, 1], [1, length, 1]];
  if (length === 1) all.push([]);
  if (length === 0) all.push([0, 3], [3, 0, 2]);
  for (let n = 2; n < length; n++) {
    if (length % n === 0) all.push([n, length / n]);
  }
  return all;
}

Deno.test("what was written is read, to the bit", () => {
  fc.assert(fc.property(numberArrays, fc.nat(), (data, choice) => {
    const all = shapes(data.length);
    const shape = all[choice % all.length];
    const bytes = encodeNpy({ data, shape });
    assertEquals((bytes.length - data.byteLength) % 64, 0);
    const read = decodeNpy(bytes);
    assertEquals(read.shape, shape);
    assertEquals(read.data, data);
    const dtype = data.constructor.name.replace("Array", "").toLowerCase();
    assertEquals(read.dtype, dtype as NpyDtype);
  }));
});

Deno.test("whole numbers of 64 bits, and bools", () => {
  fc.assert(fc.property(
    fc.array(fc.maxSafeInteger()),
    fc.array(fc.boolean()),
    (numbers, flags) => {
      const shape = [numbers.length];
      const signed: NpyArray = {
        data: Float64Array.from(numbers, (n) => n + 0),
        shape,
        dtype: "int64",
      };
      assertEquals(decodeNpy(encodeNpy(signed)), signed);
      const unsigned: NpyArray = {
        data: signed.data.map(Math.abs),
        shape,
        dtype: "uint64",
      };
      assertEquals(decodeNpy(encodeNpy(unsigned)), unsigned);
      const bools: NpyArray = {
        data: Uint8Array.from(flags, Number),
        shape: [flags.length],
        dtype: "bool",
      };
      assertEquals(decodeNpy(encodeNpy(bools)), bools);
    },
  ));
});

Deno.test("the bytes are those of the format", () => {
  const bytes = encodeNpy({ data: Float32Array.of(1), shape: [1] });
  const header =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".padEnd(117) +
    "\n";
  assertEquals(
    bytes.slice(0, 10),
    Uint8Array.of(0x93, ...text.encode("NUMPY"), 1, 0, 118, 0),
  );
  assertEquals(new TextDecoder().decode(bytes.slice(10, 128)), header);
  assertEquals(bytes.slice(128), Uint8Array.of(0, 0, 0x80, 0x3f));
});

Deno.test("other headers that numpy writes", () => {
  const body = Int16Array.of(1, -2);
  const expected = { data: body, shape: [2], dtype: "int16" as const };
  const headers = [
    "{'descr': '<i2', 'fortran_order': True, 'shape': (2,), }",
    "{'descr': '<i2', 'fortran_order': False, 'shape': (2L,)}  \n",
    "{'shape':(2,),'fortran_order':False,'descr':'<i2'}",
  ];
  for (const header of headers) {
    assertEquals(decodeNpy(file(header, body)), expected);
    assertEquals(decodeNpy(shifted(header, body)), expected);
  }
});

/** Version 2, whose length has 4 bytes. */
function shifted(header: string, body: ArrayBufferView): Uint8Array {
  const bytes = file(header, body, 2);
  new DataView(bytes.buffer).setUint32(8, header.length, true);
  return bytes;
}

Deno.test("Fortran order becomes that of C", () => {
  const shapes = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 });
  fc.assert(fc.property(shapes, fc.boolean(), (shape, bigEndian) => {
    const size = shape.reduce((product, it) => product * it, 1);
    const body = new DataView(new ArrayBuffer(2 * size));
    // Each number is its place in C order.
    for (let at = 0; at < size; at++) {
      let rest = at, place = 0;
      shape.forEach((length, axis) => {
        const stride = shape.slice(axis + 1).reduce((all, it) => all * it, 1);
        place += rest % length * stride;
        rest = Math.floor(rest / length);
      });
      body.setInt16(2 * at, place, !bigEndian);
    }
    const list = shape.map((it) => `${it},`).join(" ");
    const header = `{'descr': '${
      bigEndian ? ">" : "<"
    }i2', 'fortran_order': True, 'shape': (${list}), }`;
    const data = Int16Array.from({ length: size }, (_, i) => i);
    const read = decodeNpy(file(header, body));
    assertEquals(read, { data, shape, dtype: "int16" });
  }));
});

Deno.test("numbers of float16 are read as float32, each of them", () => {
  const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
  const view = new DataView(bits.buffer) as DataView & {
    getFloat16(at: number, isLittle: boolean): number;
  };
  const header =
    "{'descr': '<f2', 'fortran_order': False, 'shape': (65536,), }";
  const read = decodeNpy(file(header, bits));
  assertEquals([read.shape, read.dtype], [[65536], "float32"]);
  for (const [i, number] of read.data.entries()) {
    assert(Object.is(number, view.getFloat16(2 * i, true)), `${i}`);
  }
  // It is written again.
  assertEquals(decodeNpy(encodeNpy(read)), read);
});

Deno.test("big-endian numbers are turned", () => {
  const header = (descr: string) =>
    `{'descr': '>${descr}', 'fortran_order': False, 'shape': (2,), }`;
  const floats = new DataView(new ArrayBuffer(8));
  floats.setFloat32(0, 1.5);
  floats.setFloat32(4, -2e30);
  assertEquals(
    decodeNpy(file(header("f4"), floats)).data,
    Float32Array.of(1.5, -2e30),
  );
  const whole = new DataView(new ArrayBuffer(16));
  whole.setBigInt64(0, -5n);
  whole.setBigInt64(8, 2n ** 53n - 1n);
  assertEquals(
    decodeNpy(file(header("i8"), whole)).data,
    Float64Array.of(-5, 2 ** 53 - 1),
  );
});

Deno.test("bytes that are cut off, and other files", () => {
  const bytes = encodeNpy({ data: Float32Array.of(1, 2, 3), shape: [3] });
  for (let length = 0; length < bytes.length; length++) {
    assertThrows(
      () => decodeNpy(bytes.subarray(0, length)),
      SyntaxError,
      "Cannot read an npy file: it ",
    );
  }
  const longer = new Uint8Array(bytes.length + 1);
  longer.set(bytes);
  assertThrows(
    () => decodeNpy(longer),
    SyntaxError,
    "it has 141 bytes, expected 140",
  );
});

Deno.test("what cannot be read is named", () => {
  const header = (descr: string, fortran = "False", shape = "(2,)") =>
    file(
      `{'descr': ${descr}, 'fortran_order': ${fortran}, 'shape': ${shape}, }`,
    );
  const cases: Record<string, Uint8Array> = {
    "TypeError: it holds Python objects, expected an array of numbers": header(
      "'|O'",
    ),
    "TypeError: it holds records": header("[('x', '<f4')]"),
    "TypeError: its numbers are '<c8', expected one of f4, f8, i1": header(
      "'<c8'",
    ),
    "TypeError: its numbers are '<U5'": header("'<U5'"),
    "SyntaxError: its header is": header("'<f4'", "False", "(-2,)"),
    "SyntaxError: its shape is (99999999, 99999999, 9)": header(
      "'<f4'",
      "False",
      "(99999999, 99999999, 9)",
    ),
    'SyntaxError: its header is "{}"': file("{}"),
    "SyntaxError: its format is version 9, expected 1 to 3": file(
      "{}",
      undefined,
      9,
    ),
  };
  for (const [message, bytes] of Object.entries(cases)) {
    const says = message.replace(": ", ": Cannot read an npy file: ");
    assertRefused({ [says]: () => decodeNpy(bytes) });
  }
  const whole = "{'descr': '<i8', 'fortran_order': False, 'shape': (), }";
  assertRefused({
    "RangeError: its number 0 is 9007199254740992, expected at most 2^53": () =>
      decodeNpy(file(whole, new BigInt64Array([2n ** 53n]))),
  });
});

Deno.test("what cannot be written is named", () => {
  const write = (data: unknown, shape: number[], dtype?: string) => () =>
    encodeNpy({ data, shape, dtype } as NpyArray);
  assertRefused({
    "RangeError: Cannot write 2 numbers in the shape [3]": write(
      Float32Array.of(1, 2),
      [3],
    ),
    "RangeError: in the shape [-1,-2]": write(new Float32Array(2), [-1, -2]),
    "TypeError: Cannot write Array as an array: expected Float32Array, ": write(
      [1],
      [1],
    ),
    "TypeError: Cannot write float32 as int8: expected float32, int64, uint64 or bool":
      write(Float32Array.of(1), [1], "int8"),
    "RangeError: Cannot write 0.5 as int64: expected a whole number from -9007199254740991":
      write(Float32Array.of(0.5), [1], "int64"),
    "RangeError: Cannot write -1 as uint64: expected a whole number from 0":
      write(Int8Array.of(-1), [1], "uint64"),
  });
  assert(encodeNpy({ data: Float64Array.of(NaN), shape: [] }).length > 0);
});
