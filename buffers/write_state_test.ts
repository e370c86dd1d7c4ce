import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import type { PlainState } from "./plain_state.ts";
import { readState } from "./read_state.ts";
import { writeState } from "./write_state.ts";
import { numberArrays } from "./testdata/number_arrays.ts";

const MIB = 1 << 20;

async function bytesOf(state: PlainState): Promise<Uint8Array<ArrayBuffer>> {
  return await new Response(writeState(state)).bytes();
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

const arrays = fc.oneof(
  numberArrays,
  fc.bigInt64Array(),
  fc.bigUint64Array(),
);

const states = fc.letrec<{ node: PlainState }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, -0, NaN, Infinity, -Infinity),
    fc.double(),
    fc.string({ unit: "binary" }),
    arrays,
    fc.array(tie("node"), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie("node"), { maxKeys: 4 }),
  ),
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

/** Equality that tells 0 from -0, and compares the bytes of arrays. */
function identical(a: PlainState, b: PlainState): boolean {
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
        (a as Record<string, PlainState>)[key],
        (b as Record<string, PlainState>)[key],
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

function hex(bytes: Uint8Array): string {
  return [...bytes].map((it) => it.toString(16).padStart(2, "0")).join("");
}

Deno.test("the bytes are those of the format", async () => {
  const bytes = await bytesOf({ x: Uint8Array.of(1, 2, 255) });
  // Made by another program from the description of the format.
  const golden = [
    "89424255460d0a1a0100000087e6e853",
    "545245451b000000039ec7a6",
    "7b2278223a5b226172726179222c5b2275696e7438222c335d5d7d",
    "444154410300000091937fc7",
    "0102ff",
    "444f4e450c000000c404ceca",
    "0000000000805140e8c34d44",
  ].join("");
  assertEquals(hex(bytes), golden);
});

Deno.test("arrays across chunks, of any length and place", async () => {
  const backing = new Uint8Array(3 * MIB).map((_, i) => i * 7 + (i >> 8));
  const state = [
    backing.subarray(1, 6),
    new Float64Array(backing.buffer, 8, 2 * MIB / 8 - 1),
    backing.subarray(3, MIB - 2),
    new Float32Array(0),
    new Int16Array(backing.buffer, 2, 9),
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
    [{ a: [undefined] }, "'a.0' of type undefined"],
    [{ a: { b: new Map() } }, "'a.b' of type Map"],
    [() => 1, "a state of type function"],
    [{ a: 1n }, "'a' of type bigint"],
    [[new DataView(new ArrayBuffer(1))], "'0' of type DataView"],
    [{ a: new Uint8ClampedArray(1) }, "'a' of type Uint8ClampedArray"],
  ];
  for (const [state, message] of cases) {
    assertThrows(
      () => writeState(state as PlainState),
      TypeError,
      `Cannot save ${message}: expected plain values, typed arrays, lists and records`,
    );
  }
});
