import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { crc32c } from "./_crc.ts";
import type { PlainState } from "./plain_state.ts";
import { readState } from "./read_state.ts";
import { writeState } from "./write_state.ts";

const MIB = 1 << 20;

async function bytesOf(state: PlainState): Promise<Uint8Array<ArrayBuffer>> {
  return await new Response(writeState(state)).bytes();
}

function read(bytes: Uint8Array<ArrayBuffer>): Promise<PlainState> {
  return readState(new Blob([bytes]).stream());
}

async function failure(bytes: Uint8Array<ArrayBuffer>): Promise<Error> {
  const error = await assertRejects(() => read(bytes), Error);
  assertMatch(error.message, /^Cannot load the stream: .+$/);
  return error;
}

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
  const zip = Uint8Array.of(0x50, 0x4b, 3, 4, 5, 6, 7, 8, 9, 10);
  assertEquals(
    (await failure(zip)).message,
    "Cannot load the stream: it starts with 50 4b 03 04 05 06 07 08, a saved buffer with 89 42 42 55 46 0d 0a 1a",
  );
  assertMatch(
    (await failure(zip.slice(0, 2))).message,
    /it starts with 50 4b,/,
  );
});

Deno.test("bytes after the end", async () => {
  const longer = new Uint8Array(small.length + 3);
  longer.set(small);
  assertMatch(
    (await failure(longer)).message,
    new RegExp(`other bytes follow its end at ${small.length}$`),
  );
});

Deno.test("bytes of a version to come", async () => {
  const newer = small.slice();
  newer[8] = 2;
  const view = new DataView(newer.buffer);
  view.setUint32(12, crc32c(newer.subarray(0, 12)), true);
  const error = await failure(newer);
  assertEquals(error.name, "RangeError");
  assertMatch(error.message, /its format is version 2, expected 1$/);
});

Deno.test("chunks that are missing, repeated or out of place", async () => {
  const whole = await bytesOf(new Float32Array(MIB).map((_, i) => i));
  const tree = 12 + new DataView(whole.buffer).getUint32(20, true);
  const first = 16 + tree;
  const chunk = 12 + MIB;
  const preamble = whole.slice(0, first);
  const chunks = [0, 1, 2, 3].map((i) =>
    whole.slice(first + i * chunk, first + (i + 1) * chunk)
  );
  const done = whole.slice(first + 4 * chunk);
  const joined = (...order: number[]) =>
    new Blob([preamble, ...order.map((i) => chunks[i]), done]).bytes();

  await read(await joined(0, 1, 2, 3));
  const cases: [number[], RegExp][] = [
    [[0, 1, 2], /precede its end, expected/],
    [[0, 1, 2, 3, 3], /holds more data than it says/],
    [[0, 2, 1, 3], /checksum of the whole is/],
    [[0, 1, 1, 3], /checksum of the whole is/],
    [[], /precede its end, expected/],
  ];
  for (const [order, message] of cases) {
    assertMatch((await failure(await joined(...order))).message, message);
  }
});

/** A file whose checksums are right and whose description is this text. */
async function described(json: string): Promise<Uint8Array<ArrayBuffer>> {
  const tree = new TextEncoder().encode(json);
  const header = new Uint8Array(12);
  header.set(new TextEncoder().encode("TREE"));
  const view = new DataView(header.buffer);
  view.setUint32(4, tree.length, true);
  view.setUint32(8, crc32c(tree, crc32c(header.subarray(0, 8))), true);
  const done = small.subarray(-24);
  return await new Blob([small.slice(0, 16), header, tree, done]).bytes();
}

Deno.test("descriptions that nobody wrote", async () => {
  const cases: [string, RegExp][] = [
    ["{", /its description cannot be read: /],
    ['["array",["float16",3]]', /unknown array of "float16"/],
    ['["array",["float32",-1]]', /array of -1 numbers/],
    ['["array",["float32",1e15]]', /no memory for 1000000000000000 numbers of/],
    ['["number","12"]', /unknown description \["number","12"\]/],
    ["[1]", /unknown description/],
  ];
  for (const [json, message] of cases) {
    assertMatch((await failure(await described(json))).message, message);
  }
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
