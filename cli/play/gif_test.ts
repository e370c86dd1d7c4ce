import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { decode, decodeFrames } from "modern-gif";
import { encodeGif } from "./gif.ts";

function solid(red: number, green: number, blue: number) {
  const data = new Uint8Array(8 * 4 * 3);
  for (let i = 0; i < data.length; i += 3) data.set([red, green, blue], i);
  return { width: 8, height: 4, data };
}

Deno.test("a GIF holds each picture with its colours, size and delay", async () => {
  const bytes = await encodeGif([solid(255, 0, 0), solid(0, 0, 255)], {
    framesPerSecond: 20,
  });
  const gif = decode(bytes.buffer as ArrayBuffer);
  assertEquals([gif.width, gif.height, gif.frames.length], [8, 4, 2]);
  assertEquals(gif.frames.map((frame) => frame.delay), [50, 50]);
  const frames = decodeFrames(bytes.buffer as ArrayBuffer);
  assertEquals([...frames[0].data.subarray(0, 4)], [255, 0, 0, 255]);
  assertEquals([...frames[1].data.subarray(0, 4)], [0, 0, 255, 255]);
});

Deno.test("a GIF takes as long as its pictures at any rate", async () => {
  for (const framesPerSecond of [3, 24, 30, 45, 50]) {
    const pictures = Array.from({ length: 90 }, () => solid(0, 0, 0));
    const bytes = await encodeGif(pictures, { framesPerSecond });
    const delays = decode(bytes.buffer as ArrayBuffer).frames
      .map((frame) => frame.delay);
    const whole = delays.reduce((sum, it) => sum + it, 0);
    assertAlmostEquals(whole, 90_000 / framesPerSecond, 5);
    assert(delays.every((it) => it >= 20));
  }
});
