import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { zipPieces } from "./_zip_writer.ts";
import type { NpyArray, NpyData } from "./npy_array.ts";
import { loadNpz, readNpz, saveNpz, writeNpz } from "./npz.ts";
import { encodeNpy } from "./npy.ts";
import { pythonWithNumpy, runNumpy } from "./testdata/numpy.ts";

const numpy = pythonWithNumpy();
const withNumpy = { ignore: numpy === undefined }; // Needs a Python with numpy.

type Arrays = Record<string, NpyArray>;

async function bytesOf(
  arrays: Arrays,
  compress = false,
): Promise<Uint8Array<ArrayBuffer>> {
  return await new Response(writeNpz(arrays, { compress })).bytes();
}

async function withFolder(
  use: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "bellman-npz-" });
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const data: fc.Arbitrary<NpyData> = fc.oneof(
  fc.float32Array(),
  fc.float64Array(),
  fc.int8Array(),
  fc.int16Array(),
  fc.int32Array(),
  fc.uint8Array(),
  fc.uint16Array(),
  fc.uint32Array(),
);
const arrays = fc.dictionary(
  fc.string({ unit: "grapheme" }),
  data.map((data): NpyArray => ({ data, shape: [data.length] })),
  { maxKeys: 5 },
);

function dataOf(arrays: Arrays): Record<string, NpyData> {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, { data }]) => [name, data]),
  );
}

Deno.test("what was written is read, stored and deflated", async () => {
  await fc.assert(fc.asyncProperty(arrays, async (arrays) => {
    for (const compress of [false, true]) {
      const read = await readNpz(await bytesOf(arrays, compress));
      assertEquals(dataOf(read), dataOf(arrays));
    }
  }));
});

Deno.test("arrays of many pieces go to a file and come back", () =>
  withFolder(async (folder) => {
    const large = new Float32Array(700_000).map((_, i) => i % 1000);
    const arrays = {
      large: { data: large, shape: [700, 1000] },
      shared: {
        data: new Int32Array(new SharedArrayBuffer(8)).fill(3),
        shape: [2],
      },
    };
    for (const compress of [false, true]) {
      await saveNpz(arrays, `${folder}/a.npz`, { compress });
      const read = await loadNpz(new URL(`file://${folder}/a.npz`));
      assertEquals(read.large.data, large);
      assertEquals(read.large.shape, [700, 1000]);
      assertEquals(read.shared.data, Int32Array.of(3, 3));
      const { size } = await Deno.stat(`${folder}/a.npz`);
      assert(compress === size < 1_000_000);
    }
    const names = await Array.fromAsync(Deno.readDir(folder), (it) => it.name);
    assertEquals(names, ["a.npz"]);
  }));

/** The form for 4 GiB and more, used from a few bytes on. */
async function largeForm(
  arrays: Arrays,
  largeFrom: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const members = Object.entries(arrays)
    .map(([name, array]) => ({
      name: `${name}.npy`,
      pieces: [encodeNpy(array)],
    }));
  const pieces = zipPieces(members, { compress: false, largeFrom });
  return await new Response(ReadableStream.from(pieces)).bytes();
}

const few: Arrays = {
  a: { data: Float32Array.of(1, 2), shape: [2] },
  "b/ü": { data: Int16Array.of(-1, 5), shape: [1, 2] },
};

Deno.test("the larger form of the format", async () => {
  for (const largeFrom of [0, 200, 400]) {
    const read = await readNpz(await largeForm(few, largeFrom));
    assertEquals(dataOf(read), dataOf(few));
  }
});

const ALL: Arrays = {
  f4: { data: Float32Array.of(1.5, -0, NaN, 1e-40), shape: [4] },
  f8: { data: Float64Array.of(Math.PI, -1e300), shape: [2, 1] },
  i1: { data: Int8Array.of(-128, 127), shape: [2] },
  i2: { data: Int16Array.of(-32768, 32767), shape: [2] },
  i4: { data: Int32Array.of(-(2 ** 31), 2 ** 31 - 1), shape: [2] },
  i8: {
    data: Float64Array.of(-(2 ** 53) + 1, 7),
    shape: [2],
    dtype: "int64",
  },
  u1: { data: Uint8Array.of(0, 255), shape: [1, 2] },
  u2: { data: Uint16Array.of(0, 65535), shape: [2] },
  u4: { data: Uint32Array.of(0, 2 ** 32 - 1), shape: [2] },
  u8: { data: Float64Array.of(0, 2 ** 53 - 1), shape: [2], dtype: "uint64" },
  b1: { data: Uint8Array.of(1, 0, 1), shape: [3], dtype: "bool" },
  scalar: { data: Float64Array.of(2), shape: [] },
  none: { data: new Float32Array(0), shape: [0, 3] },
  "a/ü": { data: Float32Array.of(1), shape: [1] },
};

const DESCRIBE = `
import json, sys, numpy as np
read = np.load(sys.argv[1], allow_pickle=False)
print(json.dumps({name: [
  read[name].dtype.str, list(read[name].shape), read[name].tobytes().hex(),
] for name in read.files}))`;

const LETTERS: Record<string, string> = {
  float32: "<f4",
  float64: "<f8",
  int8: "|i1",
  int16: "<i2",
  int32: "<i4",
  int64: "<i8",
  uint8: "|u1",
  uint16: "<u2",
  uint32: "<u4",
  uint64: "<u8",
  bool: "|b1",
};

function expected(arrays: Arrays): unknown {
  const hex = (bytes: Uint8Array) =>
    [...bytes].map((it) => it.toString(16).padStart(2, "0")).join("");
  return Object.fromEntries(
    Object.entries(arrays).map(([name, { data, shape, dtype }]) => {
      const kind = dtype ??
        data.constructor.name.replace("Array", "").toLowerCase();
      const values = kind === "int64"
        ? BigInt64Array.from(data, BigInt)
        : kind === "uint64"
        ? BigUint64Array.from(data, BigInt)
        : data;
      const bytes = new Uint8Array(values.buffer);
      return [name, [LETTERS[kind], shape, hex(bytes)]];
    }),
  );
}

Deno.test({
  name: "numpy reads what is written",
  ...withNumpy,
  fn: () =>
    withFolder(async (folder) => {
      for (const compress of [false, true]) {
        await saveNpz(ALL, `${folder}/all.npz`, { compress });
        assertEquals(
          await runNumpy(numpy!, DESCRIBE, `${folder}/all.npz`),
          expected(ALL),
        );
      }
      await Deno.writeFile(`${folder}/large.npz`, await largeForm(few, 0));
      assertEquals(
        await runNumpy(numpy!, DESCRIBE, `${folder}/large.npz`),
        expected(few),
      );
    }),
});

const MAKE = `
import json, sys, numpy as np
arrays = {
  "f4": np.array([[1.5, -2], [3, 4]], "<f4"),
  "f8_big": np.array([1.25, -1e300], ">f8"),
  "i8": np.array([-2**53 + 1, 5]),
  "u2": np.array([[65535]], np.uint16),
  "b1": np.array([True, False]),
  "column": np.asfortranarray(np.array([[1], [2]], np.int32)),
  "scalar": np.float64(2.5),
  "strided": np.arange(6, dtype=np.int8)[::2],
}
np.savez(sys.argv[1] + "/stored.npz", **arrays)
np.savez_compressed(sys.argv[1] + "/deflated.npz", **arrays)
np.savez(sys.argv[1] + "/fortran.npz", x=np.asfortranarray(np.ones((2, 3))))
np.savez(sys.argv[1] + "/objects.npz", x=np.array([{}, None], object))
np.savez(sys.argv[1] + "/complex.npz", x=np.ones(2, np.complex64))
np.savez(sys.argv[1] + "/above.npz", x=np.array([2**60]))
print("null")`;

Deno.test({
  name: "what numpy writes is read",
  ...withNumpy,
  fn: () =>
    withFolder(async (folder) => {
      await runNumpy(numpy!, MAKE, folder);
      for (const name of ["stored", "deflated"]) {
        assertEquals(await loadNpz(`${folder}/${name}.npz`), {
          f4: {
            data: Float32Array.of(1.5, -2, 3, 4),
            shape: [2, 2],
            dtype: "float32",
          },
          f8_big: {
            data: Float64Array.of(1.25, -1e300),
            shape: [2],
            dtype: "float64",
          },
          i8: {
            data: Float64Array.of(-(2 ** 53) + 1, 5),
            shape: [2],
            dtype: "int64",
          },
          u2: { data: Uint16Array.of(65535), shape: [1, 1], dtype: "uint16" },
          b1: { data: Uint8Array.of(1, 0), shape: [2], dtype: "bool" },
          column: { data: Int32Array.of(1, 2), shape: [2, 1], dtype: "int32" },
          scalar: { data: Float64Array.of(2.5), shape: [], dtype: "float64" },
          strided: { data: Int8Array.of(0, 2, 4), shape: [3], dtype: "int8" },
        });
      }
      const refused: [string, ErrorConstructor, string][] = [
        ["fortran", TypeError, "its numbers are in Fortran order"],
        ["objects", TypeError, "it holds Python objects"],
        ["complex", TypeError, "its numbers are '<c8'"],
        ["above", RangeError, "its number 0 is 1152921504606846976"],
      ];
      for (const [name, errorClass, reason] of refused) {
        const path = `${folder}/${name}.npz`;
        await assertRejects(
          () => loadNpz(path),
          errorClass,
          `Cannot read array 'x' of '${path}': ${reason}`,
        );
      }
    }),
});

Deno.test("bytes that are cut off, changed or foreign", async () => {
  for (const compress of [false, true]) {
    const whole = await bytesOf(few, compress);
    for (let length = 0; length < whole.length; length++) {
      const error = await assertRejects(
        () => readNpz(whole.subarray(0, length)),
        SyntaxError,
      );
      assertMatch(error.message, /^Cannot read an npz file: it .+$/);
    }
    for (let at = 0; at < whole.length; at++) {
      const other = whole.slice();
      other[at] ^= 0x10;
      const read = await readNpz(other).catch((error) => {
        assertMatch(
          error.message,
          /^Cannot read (an npz|array '.+?' of an) .+$/,
        );
      });
      // Names, times and versions are not under a checksum; numbers are.
      for (const { data } of Object.values(read ?? {})) {
        assert(Object.values(few).some((it) => it.data.join() === data.join()));
      }
    }
  }
});

Deno.test("arrays are chosen by name, and others are not npy files", async () => {
  const members = [
    { name: "x.npy", pieces: [encodeNpy(few.a)] },
    { name: "readme.txt", pieces: [Uint8Array.of(65)] },
    { name: "bad.npy", pieces: [Uint8Array.of(65, 66)] },
  ];
  const pieces = zipPieces(members, { compress: false });
  const bytes = await new Response(ReadableStream.from(pieces)).bytes();
  assertEquals(Object.keys(await readNpz(bytes, { names: ["x"] })), ["x"]);
  await assertRejects(
    () => readNpz(bytes),
    SyntaxError,
    "Cannot read array 'bad' of an npz file: it does not start as an npy file does",
  );
  await assertRejects(
    () => readNpz(bytes, { names: ["x", "y"] }),
    RangeError,
    "Cannot read array 'y' of an npz file: did you mean 'x'?",
  );
  await assertRejects(
    async () => readNpz(await bytesOf({}), { names: ["y"] }),
    RangeError,
    "it has none",
  );
});

Deno.test("what cannot be written is said at once, or leaves no file", () =>
  withFolder(async (folder) => {
    assertThrows(
      () => writeNpz({ a: { data: Float32Array.of(1), shape: [2] } }),
      RangeError,
      "Cannot write 1 numbers in the shape [2]",
    );
    const half: NpyArray = {
      data: Float32Array.of(0.5),
      shape: [1],
      dtype: "int64",
    };
    const path = `${folder}/a.npz`;
    await saveNpz(few, path);
    await assertRejects(
      () => saveNpz({ ...few, half }, path),
      RangeError,
      "Cannot write 0.5 as int64",
    );
    assertEquals(dataOf(await loadNpz(path)), dataOf(few));
  }));
