import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import fc from "fast-check";
import type { StateTree } from "@bellman/types";
import { decodeSafetensors, encodeSafetensors } from "./safetensors.ts";
import {
  loadNotesSync,
  loadState,
  loadStateSync,
  readState,
  saveState,
  saveStateSync,
  writeState,
} from "./state_file.ts";
import { preparePython, runPython } from "../tests/testdata/python.ts";
import { assertRefused } from "../tests/testdata/refused.ts";
import { withFolder } from "../tests/testdata/with_folder.ts";

const MIB = 1 << 20;

async function bytesOf(state: StateTree): Promise<Uint8Array<ArrayBuffer>> {
  return await new Response(writeState(state)).bytes();
}

function read(bytes: Uint8Array<ArrayBuffer>): Promise<StateTree> {
  return readState(new Blob([bytes]).stream());
}

async function failure(bytes: Uint8Array<ArrayBuffer>): Promise<Error> {
  const error = await assertRejects(() => read(bytes), Error);
  assertMatch(error.message, /^Cannot load the stream: .+$/);
  return error;
}

/** A stream that gives bytes in pieces of these lengths, over and over. */
function streamOf(
  bytes: Uint8Array,
  lengths: readonly number[],
): ReadableStream<Uint8Array> {
  let start = 0;
  let turn = 0;
  return new ReadableStream({
    pull(controller) {
      const end = start + lengths[turn++ % lengths.length];
      controller.enqueue(bytes.slice(start, end));
      start = end;
      if (start >= bytes.length) controller.close();
    },
  });
}

const states = fc.letrec<{ node: StateTree }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, -0, NaN, Infinity, -Infinity),
    fc.double(),
    fc.string({ unit: "binary" }),
    fc.float32Array(),
    fc.float64Array(),
    fc.int32Array(),
    fc.uint32Array(),
    fc.uint8Array(),
    fc.array(tie("node"), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie("node"), { maxKeys: 4 }),
  ) as fc.Arbitrary<StateTree>,
})).node;

Deno.test("what was written is read, to the bit, however the stream is cut", async () => {
  await fc.assert(fc.asyncProperty(
    states,
    fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 }),
    async (state, lengths) => {
      const stream = streamOf(await bytesOf(state), lengths);
      assert(identical(await readState(stream), state));
    },
  ));
});

/** Equality that distinguishes 0 from -0, and compares the bytes of arrays. */
function identical(a: StateTree, b: StateTree): boolean {
  if (typeof a !== "object" || a === null) return Object.is(a, b);
  if (typeof b !== "object" || b === null) return false;
  if (ArrayBuffer.isView(a)) {
    return ArrayBuffer.isView(b) && a.constructor === b.constructor &&
      raw(a) === raw(b);
  }
  const [keysA, keysB] = [Object.keys(a), Object.keys(b)];
  return Array.isArray(a) === Array.isArray(b) &&
    keysA.length === keysB.length &&
    keysA.every((key, i) =>
      key === keysB[i] &&
      identical(
        (a as Record<string, StateTree>)[key],
        (b as Record<string, StateTree>)[key],
      )
    );
}

function raw(array: ArrayBufferView): string {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
    .toString();
}

Deno.test("names that objects have by nature are names like others", async () => {
  const state = JSON.parse('{"__proto__": {"x": 1}, "constructor": [2]}');
  const read = await readState(writeState(state));
  assertEquals(JSON.stringify(read), JSON.stringify(state));
});

Deno.test("the bytes are those of the format", async () => {
  const bytes = await bytesOf({ x: Uint8Array.of(1, 2, 255) });
  const state = '{"x":{"$array":"x"}}';
  const hash = async (bytes: BufferSource) =>
    new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  // By another way, from the description of the format.
  const rest =
    `","format":"bellman-state 1","state":${
      JSON.stringify(state)
    },"notes":"{}"},` +
    '"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},' +
    '"sha256":{"dtype":"U8","shape":[32],"data_offsets":[3,35]}}';
  const headerHash = (await hash(new TextEncoder().encode(rest))).toHex();
  const header = `{"__metadata__":{"sha256":"${headerHash}${rest}`;
  const padded = header.padEnd(Math.ceil(header.length / 8) * 8);
  const text = new TextDecoder("latin1");
  assertEquals(text.decode(bytes.subarray(8, 8 + padded.length)), padded);
  const { tensors } = decodeSafetensors(bytes);
  assertEquals(tensors.get("x")!.data, Uint8Array.of(1, 2, 255));
  assertEquals(tensors.get("sha256")!.data, await hash(bytes.slice(0, -32)));
});

Deno.test("arrays of many pieces, of any length and place", async () => {
  const backing = new Uint8Array(3 * MIB).map((_, i) => i * 7 + (i >> 8));
  const state = [
    backing.subarray(1, 6),
    new Float64Array(backing.buffer, 8, 2 * MIB / 8 - 1),
    backing.subarray(3, MIB - 2),
    new Float32Array(0),
    new Int32Array(backing.buffer, 4, 9),
  ];
  const read = await readState(writeState(state));
  assert(identical(read, state));
});

Deno.test("arrays are written from where they lie", async () => {
  const array = new Float32Array(MIB).fill(2);
  const pieces: Uint8Array[] = [];
  for await (const piece of writeState({ array })) pieces.push(piece);
  const views = pieces.filter((piece) => piece.buffer === array.buffer);
  assertEquals(views.map((view) => view.length), Array(4).fill(MIB));
});

Deno.test("shared memory is written as bytes of its own", async () => {
  const array = new Float32Array(new SharedArrayBuffer(8));
  array.set([1, 2]);
  const stream = writeState({ array });
  assertEquals(await readState(stream), { array: Float32Array.of(1, 2) });
});

Deno.test("what is not plain is named", () => {
  const cases: [unknown, string][] = [
    [{ a: [undefined] }, "'a/0' of type undefined"],
    [{ a: { b: new Map() } }, "'a/b' of type Map"],
    [() => 1, "a state of type function"],
    [{ a: 1n }, "'a' of type bigint"],
    [[new DataView(new ArrayBuffer(1))], "'0' of type DataView"],
    [{ a: new Uint8ClampedArray(1) }, "'a' of type Uint8ClampedArray"],
  ];
  for (const [state, message] of cases) {
    assertRefused({
      [`TypeError: Cannot save ${message}: expected plain values, typed arrays, lists and records`]:
        () => writeState(state as StateTree),
    });
  }
});

const small = await bytesOf({
  length: 2,
  name: "pool",
  data: [Float32Array.of(1, 2, 3), Uint8Array.of(7)],
});

Deno.test("bytes that are cut off anywhere", async () => {
  for (let length = 0; length < small.length; length++) {
    const error = await failure(small.slice(0, length));
    assertEquals(error.name, "SyntaxError");
    assertMatch(
      error.message,
      length === 0
        ? /it is empty/
        : new RegExp(`is cut off after ${length} bytes, expected at least \\d`),
    );
  }
});

Deno.test("any bit that is another", async () => {
  for (let bit = 0; bit < small.length * 8; bit++) {
    const damaged = small.slice();
    damaged[bit >> 3] ^= 1 << (bit & 7);
    assertEquals((await failure(damaged)).name, "SyntaxError");
  }
});

Deno.test("bytes of something else", async () => {
  const start =
    "Cannot load the stream: it does not start as a saved state does";
  assertEquals((await failure(new Uint8Array(99))).message, start);
  // Another safetensors file, as checkpoints of an earlier format were.
  const x = { data: new Float32Array(4), shape: [4] };
  const others = encodeSafetensors(new Map([["x", x]]), { step: "10" });
  assertEquals((await failure(others)).message, start);
});

Deno.test("bytes after the end", async () => {
  const longer = new Uint8Array(small.length + 3);
  longer.set(small);
  assertMatch(
    (await failure(longer)).message,
    new RegExp(`other bytes follow its end at ${small.length}$`),
  );
});

/** A file whose checksum of the header is right, of other texts. */
async function edited(
  edit: (header: string) => string,
): Promise<Uint8Array<ArrayBuffer>> {
  const length = Number(new DataView(small.buffer).getBigUint64(0, true));
  const header = new TextDecoder().decode(small.subarray(8, 8 + length));
  const rest = edit(header.trimEnd().slice(91));
  const hash = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(rest),
  );
  const text = new TextEncoder().encode(
    header.slice(0, 27) + new Uint8Array(hash).toHex() + rest,
  );
  const prefix = new DataView(new ArrayBuffer(8));
  prefix.setBigUint64(0, BigInt(text.length), true);
  return await new Blob([prefix, text, small.subarray(8 + length)]).bytes();
}

Deno.test("headers that nobody wrote", async () => {
  const cases: [string, string, string, RegExp][] = [
    ["state 1", "state 2", "RangeError", /its format is bellman-state 2, exp/],
    ["[0,12]", "[0,11]", "SyntaxError", /"data\/0" has 11 bytes, its type and/],
    ['"F32"', '"F16"', "SyntaxError", /"data\/0" has type "F16"/],
    ['"name', '"game', "SyntaxError", /it does not have the hash it should/],
    [
      '"shape":[3],"data_offsets":[0,12]',
      '"shape":[1e15],"data_offsets":[0,4e15]',
      "SyntaxError",
      /overlap/,
    ],
  ];
  for (const [from, to, name, message] of cases) {
    const error = await failure(await edited((it) => it.replace(from, to)));
    assertEquals(error.name, name);
    assertMatch(error.message, message);
  }
  const huge = (text: string) =>
    text.replace('"shape":[3],"data_offsets":[0,12]', "HERE")
      .replaceAll(
        /\[1[23],\d+\]/g,
        (it) =>
          JSON.stringify(JSON.parse(it).map((n: number) => n - 12 + 4e15)),
      )
      .replace("HERE", '"shape":[1e15],"data_offsets":[0,4e15]');
  assertMatch(
    (await failure(await edited(huge))).message,
    /no memory for array 'data\/0'$/,
  );
});

Deno.test("a stream that fails is let go, and its own error is the one", async () => {
  let cancelled: unknown;
  const wrong = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(20)),
    cancel: (reason) => void (cancelled = reason),
  });
  const error = await assertRejects(() => readState(wrong), SyntaxError);
  assertEquals(cancelled, error);
  assertEquals(wrong.locked, false);

  const lost = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error("connection lost")),
  });
  await assertRejects(() => readState(lost), Error, "connection lost");
  const text = new Blob(["x"]).stream().pipeThrough(new TextDecoderStream());
  await assertRejects(
    () => readState(text as unknown as ReadableStream<Uint8Array>),
    TypeError,
    "Cannot load a stream of string: expected a stream of Uint8Array",
  );
});

Deno.test("files hold the same, with notes that are read alone", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.state`;
    const state = { a: new Float64Array(200_000).map((_, i) => i), b: [-0] };
    await saveState(state, new URL(`file://${path}`));
    assertEquals(loadStateSync(path), { state, notes: {} });
    const notes = { text: "seed: 1\n", rate: -0, list: [NaN, null] };
    saveStateSync(state, path, { notes });
    assertEquals(await loadState(path), state);
    assertEquals(loadNotesSync(path), notes);
    assertEquals(
      await new Response(writeState(state, { notes })).bytes(),
      await Deno.readFile(path),
    );
    assertRefused({
      "TypeError: Cannot save the array 'a/0' among the notes: they are plain values":
        () => saveStateSync(null, path, { notes: { a: [new Uint8Array(1)] } }),
    });
    // The length shows damage that the header does not.
    const { size } = await Deno.stat(path);
    await Deno.truncate(path, size - 1);
    assertRefused({
      [
        `SyntaxError: Cannot load it: it has ${
          size - 1
        } bytes, expected ${size}`
      ]: () => loadNotesSync(path, { name: "it" }),
      [
        `SyntaxError: Cannot load '${path}': it has ${
          size - 1
        } bytes, expected ${size}`
      ]: () => loadStateSync(path),
      "SyntaxError: it is a folder": () => loadStateSync(folder),
      "Error: ENOENT": () => loadStateSync(`${path}.none`),
    });
  }));

const python = await preparePython();

Deno.test("Python's safetensors reads a saved state [Python]", {
  ignore: python.missing !== undefined,
}, () =>
  withFolder(async (folder) => {
    const kernel = { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] };
    await saveState({ "0": new Uint8Array(3), kernel }, `${folder}/a.state`);
    const script = `
import json, sys
from safetensors.numpy import load_file
arrays = load_file(sys.argv[1])
print(json.dumps({name: list(it.shape) for name, it in arrays.items()}))
`;
    assertEquals(await runPython(python, script, `${folder}/a.state`), {
      "0": [3],
      kernel: [2, 2],
      sha256: [32],
    });
  }));
