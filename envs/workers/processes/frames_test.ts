import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  FRAME_HEADER,
  frameOf,
  FrameReader,
  writeFrameHeader,
} from "./frames.ts";

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** What a reader makes of pieces of a stream, cut at the given places. */
function read(
  stream: Uint8Array,
  cuts: readonly number[],
): { messages: Uint8Array[]; stray: Uint8Array } {
  const messages: Uint8Array[] = [], stray: Uint8Array[] = [];
  const reader = new FrameReader({
    message: (bytes) => messages.push(bytes),
    stray: (bytes) => stray.push(bytes.slice()),
  });
  const ends = [...cuts.map((it) => it % (stream.length + 1)), stream.length]
    .sort((a, b) => a - b);
  let from = 0;
  for (const end of ends) {
    reader.read(stream.slice(from, end));
    from = end;
  }
  return { messages, stray: concatenate(stray) };
}

/** Bytes that are printed; a mark's first byte, too, but never a whole mark. */
const printed = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 126 }), fc.constant(0xf5)),
  { maxLength: 20 },
).map((it) => Uint8Array.from(it));

Deno.test("messages and prints are told apart wherever the stream is cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(printed, fc.uint8Array({ maxLength: 300 }))),
      fc.array(fc.nat()),
      (parts, cuts) => {
        const stream = concatenate(
          parts.flatMap(([text, message]) => [
            text,
            frameOf(message.subarray(0, 9), message.subarray(9)),
          ]),
        );
        const { messages, stray } = read(stream, cuts);
        assertEquals(messages, parts.map(([, message]) => message));
        assertEquals(stray, concatenate(parts.map(([text]) => text)));
      },
    ),
  );
});

Deno.test("a length of more than 16 bits is read back", () => {
  const bytes = new Uint8Array(FRAME_HEADER);
  writeFrameHeader(bytes, 0x12345678);
  assertEquals(new DataView(bytes.buffer).getUint32(8, true), 0x12345678);
});

Deno.test("a message that is too long is refused", () => {
  const half = new Uint8Array(2 ** 29 + 1);
  assertThrows(
    () => frameOf(half, half),
    RangeError,
    "expected at most 1073741824",
  );
});
