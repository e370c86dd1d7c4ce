import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { encodeNpy, type NpyArray, type NpyData } from "./npy.ts";
import { loadNpz, readNpz, saveNpz, writeNpz } from "./npz.ts";
import { few, largeForm, zipOf } from "./testdata/few_arrays.ts";
import { withFolder } from "../tests/testdata/with_folder.ts";
import { numberArrays } from "./testdata/number_arrays.ts";
import { assertRejected } from "../tests/testdata/refused.ts";

type Arrays = Record<string, NpyArray>;

async function bytesOf(
  arrays: Arrays,
  compress = false,
): Promise<Uint8Array<ArrayBuffer>> {
  return await new Response(writeNpz(arrays, { compress })).bytes();
}

const arrays = fc.dictionary(
  fc.string({ unit: "grapheme" }),
  numberArrays.map((data): NpyArray => ({ data, shape: [data.length] })),
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

Deno.test("the larger form of the format", async () => {
  assertEquals(dataOf(await readNpz(await largeForm(few))), dataOf(few));
});

Deno.test("bytes that are cut off", async () => {
  for (const compress of [false, true]) {
    const whole = await bytesOf(few, compress);
    for (let length = 0; length < whole.length; length++) {
      const error = await assertRejects(
        () => readNpz(whole.subarray(0, length)),
        SyntaxError,
      );
      assertMatch(error.message, /^Cannot read an npz file: it .+$/);
    }
  }
});

Deno.test("a bit that flips is an error, or the arrays are the same", async () => {
  const three = { ...few, c: { data: Uint8Array.of(7), shape: [] } };
  const wholes = [
    await bytesOf(three),
    await bytesOf({ a: few.a }, true),
    await largeForm(three),
  ];
  for (const whole of wholes) {
    const expected = await readNpz(whole);
    let same = 0;
    for (let bit = 0; bit < 8 * whole.length; bit += 11) {
      const other = whole.slice();
      other[bit >> 3] ^= 1 << (bit & 7);
      const read = await readNpz(other).catch((error) => {
        assertMatch(
          error.message,
          /^Cannot read (an npz|array '.+?' of an) .+$/,
        );
      });
      if (read === undefined) continue;
      assertEquals(read, expected, `bit ${bit}`);
      same++;
    }
    // Times, versions and attributes of files are not read.
    assert(same < whole.length * 4 / 11, `${same} of ${8 * whole.length / 11}`);
  }
});

Deno.test("numbers that changed are damage, stored or deflated", async () => {
  for (const compress of [false, true]) {
    const bytes = await bytesOf({ a: few.a }, compress);
    // The member's own header takes 30 bytes and its name.
    const start = 30 + "a.npy".length;
    bytes[start + (compress ? 20 : 130)] ^= 1;
    await assertRejected({
      "SyntaxError: Cannot read array 'a' of an npz file: it is damaged: invalid":
        () => readNpz(bytes),
    });
  }
});

Deno.test("what the directory says of a member, its own header says too", async () => {
  const names = ["x.npy", "y.npy"];
  const bytes = await bytesOf({ x: few.a, y: few.a });
  const text = new TextDecoder("latin1").decode(bytes);
  const put = (at: number, value: string) => {
    const other = bytes.slice();
    other.set(new TextEncoder().encode(value), at);
    return other;
  };
  const [inHeader, inDirectory] = [text.indexOf, text.lastIndexOf]
    .map((find) => find.call(text, names[1]));
  await assertRejected({
    "SyntaxError: Cannot read an npz file: it is damaged: mismatched local file header (filename)":
      () => readNpz(put(inHeader, "z.npy")),
    "SyntaxError: (filename)": () => readNpz(put(inDirectory, "y.np\n")),
  });
  const twice = put(inHeader, "x.npy");
  twice.set(new TextEncoder().encode("x.npy"), inDirectory);
  await assertRejected({
    "SyntaxError: Cannot read an npz file: it is damaged: duplicate filename":
      () => readNpz(twice),
  });
  // A name that is not asked for is looked at as well.
  await assertRejected({
    "SyntaxError: (filename)": () =>
      readNpz(put(inHeader, "z.npy"), { names: ["x"] }),
  });
});

Deno.test("arrays are chosen by name, and others are not npy files", async () => {
  const bytes = await zipOf({
    "x.npy": encodeNpy(few.a),
    "readme.txt": Uint8Array.of(65),
    "bad.npy": Uint8Array.of(65, 66),
  });
  assertEquals(Object.keys(await readNpz(bytes, { names: ["x"] })), ["x"]);
  await assertRejected({
    "SyntaxError: Cannot read array 'bad' of an npz file: it does not start as an npy file does":
      () => readNpz(bytes),
    "RangeError: Cannot read array 'y' of an npz file: expected one of x, bad":
      () => readNpz(bytes, { names: ["x", "y"] }),
    "RangeError: there is none": async () =>
      readNpz(await bytesOf({}), { names: ["y"] }),
  });
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
    await assertRejected({
      "RangeError: Cannot write 0.5 as int64": () =>
        saveNpz({ ...few, half }, path),
    });
    assertEquals(dataOf(await loadNpz(path)), dataOf(few));
  }));
