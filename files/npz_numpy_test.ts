import { assertEquals, assertRejects } from "@std/assert";
import type { NpyArray } from "./npy.ts";
import { loadNpz, saveNpz } from "./npz.ts";
import { few, largeForm } from "./testdata/few_arrays.ts";
import { pythonWithNumpy, runNumpy } from "./testdata/numpy.ts";
import { withFolder } from "../tests/testdata/with_folder.ts";

const numpy = pythonWithNumpy();
const withNumpy = { ignore: numpy === undefined };

const ALL: Record<string, NpyArray> = {
  f4: { data: Float32Array.of(1.5, -0, NaN, 1e-40), shape: [4] },
  f8: { data: Float64Array.of(Math.PI, -1e300), shape: [2, 1] },
  i1: { data: Int8Array.of(-128, 127), shape: [2] },
  i2: { data: Int16Array.of(-32768, 32767), shape: [2] },
  i4: { data: Int32Array.of(-(2 ** 31), 2 ** 31 - 1), shape: [2] },
  i8: { data: Float64Array.of(-(2 ** 53) + 1, 7), shape: [2], dtype: "int64" },
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

function expected(arrays: Record<string, NpyArray>): unknown {
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

Deno.test(
  "numpy reads what is written [NumPy]",
  withNumpy,
  () =>
    withFolder(async (folder) => {
      for (const compress of [false, true]) {
        await saveNpz(ALL, `${folder}/all.npz`, { compress });
        assertEquals(
          await runNumpy(numpy!, DESCRIBE, `${folder}/all.npz`),
          expected(ALL),
        );
      }
      await Deno.writeFile(`${folder}/large.npz`, await largeForm(few));
      assertEquals(
        await runNumpy(numpy!, DESCRIBE, `${folder}/large.npz`),
        expected(few),
      );
    }),
);

const MAKE = `
import json, sys, numpy as np
arrays = {
  "f4": np.array([[1.5, -2], [3, 4]], "<f4"),
  "f8_big": np.array([1.25, -1e300], ">f8"),
  "i8": np.array([-2**53 + 1, 5]),
  "u2": np.array([[65535]], np.uint16),
  "b1": np.array([True, False]),
  "column": np.asfortranarray(np.array([[1], [2]], np.int32)),
  "fortran": np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
  "turned": np.arange(24, dtype=">f4").reshape(2, 3, 4).transpose(1, 2, 0),
  "f2": np.array([[0.5, -2], [65504, np.inf]], np.float16, order="F"),
  "scalar": np.float64(2.5),
  "strided": np.arange(6, dtype=np.int8)[::2],
}
np.savez(sys.argv[1] + "/stored.npz", **arrays)
np.savez_compressed(sys.argv[1] + "/deflated.npz", **arrays)
class Pipe:
  def __init__(self, file): self.file = file
  def write(self, data): return self.file.write(data)
  def flush(self): self.file.flush()
  def read(self): raise OSError
with open(sys.argv[1] + "/streamed.npz", "wb") as file:
  np.savez_compressed(Pipe(file), **arrays)
np.savez(sys.argv[1] + "/objects.npz", x=np.array([{}, None], object))
np.savez(sys.argv[1] + "/complex.npz", x=np.ones(2, np.complex64))
np.savez(sys.argv[1] + "/above.npz", x=np.array([2**60]))
print("null")`;

Deno.test(
  "what numpy writes is read [NumPy]",
  withNumpy,
  () =>
    withFolder(async (folder) => {
      await runNumpy(numpy!, MAKE, folder);
      for (const name of ["stored", "deflated", "streamed"]) {
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
          fortran: {
            data: Int32Array.of(0, 1, 2, 3, 4, 5),
            shape: [2, 3],
            dtype: "int32",
          },
          turned: {
            data: Float32Array.from(
              { length: 24 },
              (_, i) => Math.floor(i / 2) + 12 * (i % 2),
            ),
            shape: [3, 4, 2],
            dtype: "float32",
          },
          f2: {
            data: Float32Array.of(0.5, -2, 65504, Infinity),
            shape: [2, 2],
            dtype: "float32",
          },
          scalar: { data: Float64Array.of(2.5), shape: [], dtype: "float64" },
          strided: { data: Int8Array.of(0, 2, 4), shape: [3], dtype: "int8" },
        });
      }
      const refused: [string, ErrorConstructor, string][] = [
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
);
