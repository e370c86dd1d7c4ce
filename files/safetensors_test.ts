import type { StateArray } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  decodeSafetensors,
  encodeSafetensors,
  type SafeTensor,
} from "./safetensors.ts";
import { preparePython, runPython } from "../tests/testdata/python.ts";
import { assertRefused } from "../tests/testdata/refused.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** A file with this header and this many bytes of data. */
function file(header: unknown, dataBytes = 0): Uint8Array {
  const text = encode(
    typeof header === "string" ? header : JSON.stringify(header),
  );
  const bytes = new Uint8Array(8 + text.length + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  return bytes;
}

const arrays = fc.oneof(
  fc.float32Array(),
  fc.float64Array(),
  fc.int32Array(),
  fc.uint32Array(),
  fc.uint8Array(),
);
const names = fc.string({ unit: "binary" })
  .filter((name) => name !== "__metadata__");

Deno.test("what was written is read, to the bit", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(names, arrays), { selector: ([name]) => name }),
      (entries) => {
        const tensors = new Map<string, SafeTensor>(
          entries.map(([name, data]) => [name, { data, shape: [data.length] }]),
        );
        const read = decodeSafetensors(
          encodeSafetensors(tensors, { step: "5" }),
        );
        assertEquals(read.metadata, { step: "5" });
        assertEquals(read.tensors.size, tensors.size);
        for (const [name, { data, shape }] of tensors) {
          const other = read.tensors.get(name)!;
          assertEquals(other.shape, shape);
          assertEquals(other.data.constructor, data.constructor);
          assertEquals(
            new Uint8Array(other.data.buffer),
            new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
          );
        }
      },
    ),
  );
});

Deno.test("the bytes are those of the format", () => {
  const bytes = encodeSafetensors(
    new Map([["b", { data: new Float32Array([1]), shape: [] }]]),
  );
  const header = '{"b":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}';
  const padded = header.padEnd(Math.ceil(header.length / 8) * 8);
  assertEquals(
    bytes.slice(0, 8),
    new Uint8Array([padded.length, 0, 0, 0, 0, 0, 0, 0]),
  );
  assertEquals(bytes.slice(8, -4), encode(padded));
  assertEquals(bytes.slice(-4), new Uint8Array([0, 0, 0x80, 0x3f]));
});

Deno.test("arrays start at multiples of their element size", () => {
  const tensors = new Map<string, SafeTensor>([
    ["bytes", { data: new Uint8Array(3), shape: [3] }],
    ["floats", { data: new Float32Array(3), shape: [3] }],
    ["doubles", { data: new Float64Array(1), shape: [1] }],
  ]);
  const bytes = encodeSafetensors(tensors);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, 8 + length)),
  );
  assertEquals(length % 8, 0);
  assertEquals(header.doubles.data_offsets, [0, 8]);
  assertEquals(header.floats.data_offsets, [8, 20]);
  assertEquals(header.bytes.data_offsets, [20, 23]);
});

Deno.test("a file that lies over the end of a larger buffer is read alone", () => {
  const bytes = encodeSafetensors(
    new Map([["b", { data: new Float32Array([1, 2]), shape: [2] }]]),
  );
  const larger = new Uint8Array(bytes.length + 13);
  larger.set(bytes, 5);
  const read = decodeSafetensors(larger.subarray(5, 5 + bytes.length));
  assertEquals(read.tensors.get("b")!.data, new Float32Array([1, 2]));
});

Deno.test("what cannot be written is refused", () => {
  const data = new Float32Array(3);
  assertRefused({
    "RangeError: Cannot write array 'b': shape [2,2] does not fit 3 values":
      () => encodeSafetensors(new Map([["b", { data, shape: [2, 2] }]])),
    "TypeError: Cannot write an array named '__metadata__'": () =>
      encodeSafetensors(new Map([["__metadata__", { data, shape: [3] }]])),
  });
  const wrong = new Int16Array(3) as unknown as Float32Array;
  assertRefused({
    "TypeError: its type is not one of F64, F32, I32, U32, U8": () =>
      encodeSafetensors(new Map([["b", { data: wrong, shape: [3] }]])),
  });
});

Deno.test("types of other programs are read as wider ones", () => {
  const read = (
    dtype: string,
    { buffer, length }: { buffer: ArrayBuffer; length: number },
  ) => {
    const { byteLength } = buffer;
    const x = { dtype, shape: [length], data_offsets: [0, byteLength] };
    const bytes = file({ x }, byteLength);
    bytes.set(new Uint8Array(buffer), bytes.length - byteLength);
    return decodeSafetensors(bytes).tensors.get("x")!.data;
  };
  const cases = {
    F16: [
      Uint16Array.of(0x3c00, 0xc000, 1, 0x8000, 0x7bff, 0x7c00, 0xfc00, 0x7e00),
      Float32Array.of(1, -2, 2 ** -24, -0, 65504, Infinity, -Infinity, NaN),
    ],
    BF16: [
      Uint16Array.of(0x3f80, 0xc000, 1, 0x8000, 0x7f80, 0x7fc0),
      Float32Array.of(1, -2, 2 ** -133, -0, Infinity, NaN),
    ],
    I64: [
      BigInt64Array.of(-1n, 2n ** 53n - 1n),
      Float64Array.of(-1, 2 ** 53 - 1),
    ],
    U64: [BigUint64Array.of(0n, 9n), Float64Array.of(0, 9)],
    I16: [Int16Array.of(-32768, 7), Int32Array.of(-32768, 7)],
    U16: [Uint16Array.of(65535, 7), Uint32Array.of(65535, 7)],
    I8: [Int8Array.of(-128, 127, 0), Int32Array.of(-128, 127, 0)],
    BOOL: [Uint8Array.of(1, 0, 255), Uint8Array.of(1, 0, 1)],
  };
  for (const [dtype, [given, wanted]] of Object.entries(cases)) {
    assertEquals(read(dtype, given), wanted as StateArray, dtype);
    const none = { buffer: new ArrayBuffer(0), length: 0 };
    assertEquals(read(dtype, none).length, 0);
  }
  assertRefused({
    "RangeError: Cannot read safetensors: a number is 9007199254740992, expected at most 2^53":
      () => read("I64", BigInt64Array.of(2n ** 53n)),
  });
});

const entry = { dtype: "F32", shape: [2], data_offsets: [0, 8] };
const of = (b: object, dataBytes: number) =>
  file({ b: { ...entry, ...b } }, dataBytes);
const noText = file('{"a":1}');
noText[10] = 0xff;
const broken: Record<string, Uint8Array> = {
  "0 bytes are too few for a header": new Uint8Array(0),
  "more than 100000000": new Uint8Array(8).fill(255),
  "its header claims 2 bytes, the file has 1 left": file("{}").subarray(0, 9),
  "its header is not JSON": file("{]"),
  "header is not JSON": noText,
  "its header is not a record": file("[]"),
  'array "b" has no description': file({ b: 1 }),
  "its metadata is not a record of texts": file({ __metadata__: { a: 1 } }),
  'has type "F8_E5M2", which is not one of F64, F32, I32, U32, U8, F16,': of(
    { dtype: "F8_E5M2" },
    8,
  ),
  "has 8 bytes, its type and shape need 4": of({ dtype: "F16" }, 8),
  'has type "toString"': of({ dtype: "toString" }, 8),
  "has shape [-2]": of({ shape: [-2] }, 8),
  "has shape [1099511627776,1099511627776]": of(
    { shape: [2 ** 40, 2 ** 40] },
    8,
  ),
  "has offsets [8,0]": of({ data_offsets: [8, 0] }, 8),
  "ends at byte 8 of 4": of({}, 4),
  "has 8 bytes, its type and shape need 12": of({ shape: [3] }, 8),
  "its arrays overlap": file({
    a: entry,
    b: { ...entry, data_offsets: [4, 12] },
  }, 12),
  "its arrays leave a gap": file({
    a: entry,
    b: { ...entry, data_offsets: [12, 20] },
  }, 20),
  "1 bytes belong to no array": file({ a: entry }, 9),
};

for (const [message, bytes] of Object.entries(broken)) {
  Deno.test(`a broken file gives one line: ${message}`, () => {
    const read = () => decodeSafetensors(bytes);
    const error = assertThrows(read, SyntaxError, message);
    assertEquals(error.message.split("\n").length, 1);
  });
}

Deno.test("any damage is a SyntaxError or other values, never a crash", () => {
  const whole = encodeSafetensors(
    new Map([
      ["a", { data: new Float32Array([1, 2]), shape: [2] }],
      ["b", { data: new Int32Array([3]), shape: [] }],
    ]),
  );
  fc.assert(
    fc.property(
      fc.nat(whole.length - 1),
      fc.nat(255),
      fc.nat(whole.length),
      (at, value, length) => {
        const bytes = whole.slice();
        bytes[at] = value;
        for (const damaged of [bytes, whole.subarray(0, length)]) {
          try {
            decodeSafetensors(damaged);
          } catch (error) {
            assertEquals(error instanceof SyntaxError, true, String(error));
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});

const python = await preparePython();
/** Types of numpy that are read as wider ones. */
const OTHERS = [
  ...["float16", "int64", "uint64", "int16", "uint16", "int8", "bool"],
];

Deno.test(
  "Python's safetensors reads what was written, and the other way round [Python]",
  { ignore: python.missing !== undefined },
  async () => {
    const dir = await Deno.makeTempDir();
    const tensors = new Map<string, SafeTensor>([
      ["pi/kernel", {
        data: new Float32Array([1.5, -0, 1e-45, 3e38, NaN, Infinity]),
        shape: [2, 3],
      }],
      ["count", { data: new Float64Array([0.1]), shape: [] }],
      ["ids", { data: new Int32Array([-1, 2 ** 31 - 1]), shape: [2] }],
      ["random", { data: new Uint32Array([2 ** 32 - 1]), shape: [1] }],
      ["pixels", { data: new Uint8Array([0, 255, 7]), shape: [3, 1] }],
      ["none", { data: new Float32Array(0), shape: [0, 4] }],
    ]);
    await Deno.writeFile(`${dir}/ours`, encodeSafetensors(tensors));
    const script = `
import json, sys
from safetensors.numpy import load_file, save_file
import numpy as np
arrays = load_file(sys.argv[1])
save_file(arrays, sys.argv[2], metadata={"by": "python"})
save_file({dtype: np.array([[1, 0], [3, 100]], dtype) for dtype in sys.argv[4:]}, sys.argv[3])
print(json.dumps({k: [str(v.dtype), list(v.shape), v.tobytes().hex()] for k, v in arrays.items()}))
`;
    const seen = await runPython(
      python,
      script,
      `${dir}/ours`,
      `${dir}/theirs`,
      `${dir}/others`,
      ...OTHERS,
    );
    const others = decodeSafetensors(await Deno.readFile(`${dir}/others`));
    assertEquals([...others.tensors.keys()].sort(), OTHERS.toSorted());
    for (const [name, { data, shape }] of others.tensors) {
      const wanted = name === "bool" ? [1, 0, 1, 1] : [1, 0, 3, 100];
      assertEquals([shape, ...data], [[2, 2], ...wanted], name);
    }
    const types = ["float32", "float64", "int32", "uint32", "uint8", "float32"];
    assertEquals(
      seen,
      Object.fromEntries(
        [...tensors].map(([name, { data, shape }], i) => [name, [
          types[i],
          shape,
          new Uint8Array(data.buffer).toHex(),
        ]]),
      ),
    );
    const read = decodeSafetensors(await Deno.readFile(`${dir}/theirs`));
    assertEquals(read.metadata, { by: "python" });
    assertEquals(
      new Map([...read.tensors].sort()),
      new Map([...tensors].sort()),
    );
    await Deno.remove(dir, { recursive: true });
  },
);
