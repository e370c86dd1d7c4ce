import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertRejects,
} from "@std/assert";
import fc from "fast-check";
import { decode, decodeFrames } from "modern-gif";
import v8 from "node:v8";
import vm from "node:vm";
import { UsageError } from "../terminal/errors.ts";
import { GifWriter } from "./gif.ts";
import type { RgbImage } from "@bellman/types";

/** Runs with the path of a GIF in a new folder, which is gone afterwards. */
async function withPath(use: (path: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "bellman-gif-" });
  try {
    await use(`${dir}/x.gif`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** The bytes of a GIF of some pictures. */
async function written(
  pictures: readonly RgbImage[],
  framesPerSecond = 20,
): Promise<ArrayBuffer> {
  let bytes = new Uint8Array(0);
  await withPath(async (path) => {
    const gif = new GifWriter(path, framesPerSecond);
    for (const picture of pictures) await gif.show(picture);
    await gif.finish();
    bytes = await Deno.readFile(path);
  });
  return bytes.buffer;
}

/** Red, green and blue of each pixel of each picture that a viewer shows. */
function shown(bytes: ArrayBuffer): Uint8Array[] {
  return decodeFrames(bytes).map(({ data }) =>
    Uint8Array.from(data).filter((_, i) => i % 4 < 3)
  );
}

function solid(red: number, green: number, blue: number): RgbImage {
  const data = new Uint8Array(8 * 4 * 3);
  for (let i = 0; i < data.length; i += 3) data.set([red, green, blue], i);
  return { width: 8, height: 4, data };
}

Deno.test("a GIF holds each picture with its size and delay", async () => {
  const pictures = [solid(255, 0, 0), solid(0, 0, 255), solid(0, 0, 255)];
  const bytes = await written(pictures);
  const gif = decode(bytes);
  assertEquals([gif.width, gif.height, gif.looped], [8, 4, true]);
  assertEquals(gif.frames.map((frame) => frame.delay), [50, 50, 50]);
  assertEquals(shown(bytes), pictures.map(({ data }) => data));
});

Deno.test("pictures of up to 255 colours are shown exactly", async () => {
  const colors = fc.array(fc.nat(0xffffff), { minLength: 1, maxLength: 255 });
  const pictures = fc.array(
    fc.tuple(colors, fc.nat(9), fc.integer({ min: 1, max: 7 })),
    { minLength: 1, maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(pictures, async (kinds) => {
      let data = new Uint8Array(20 * 15 * 3);
      const pictures = kinds.map(([colors, from, step]): RgbImage => {
        data = data.slice();
        // Some pixels stay as in the picture before.
        for (let pixel = from; pixel < 300; pixel += step) {
          const color = colors[pixel % colors.length];
          data.set([color >> 16, color >> 8 & 255, color & 255], 3 * pixel);
        }
        return { width: 20, height: 15, data };
      }).filter(({ data }) => colorsIn(data) <= 255);
      if (pictures.length === 0) return;
      assertEquals(
        shown(await written(pictures)),
        pictures.map(({ data }) => data),
      );
    }),
    { numRuns: 50 },
  );
});

function colorsIn(data: Uint8Array): number {
  const colors = new Set<number>();
  for (let i = 0; i < data.length; i += 3) {
    colors.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  }
  return colors.size;
}

Deno.test("pictures of more colours are shown in those that suit them", async () => {
  const pictures = [0, 3].map((shift): RgbImage => ({
    width: 64,
    height: 64,
    data: Uint8Array.from({ length: 64 * 64 * 3 }, (_, i) => {
      const pixel = Math.floor(i / 3);
      const [x, y] = [(pixel + shift) % 64, Math.floor(pixel / 64)];
      return [4 * x, 4 * y, 2 * (x + y)][i % 3];
    }),
  }));
  shown(await written(pictures)).forEach((data, k) => {
    const offs = Array.from(
      data,
      (it, i) => Math.abs(it - pictures[k].data[i]),
    );
    const mean = offs.reduce((sum, it) => sum + it) / offs.length;
    assert(mean < 6, `${mean}`);
    assert(Math.max(...offs) < 40, `${Math.max(...offs)}`);
  });
});

Deno.test("a GIF takes as long as its pictures at any rate", async () => {
  for (const framesPerSecond of [3, 24, 30, 45, 50]) {
    const pictures = Array.from({ length: 90 }, () => solid(0, 0, 0));
    const delays = decode(await written(pictures, framesPerSecond)).frames
      .map((frame) => frame.delay);
    const whole = delays.reduce((sum, it) => sum + it, 0);
    assertAlmostEquals(whole, 90_000 / framesPerSecond, 5);
    assert(delays.every((it) => it >= 20));
  }
});

/** Bytes that are in use, after what is not has been collected. */
function bytesInUse(): number {
  v8.setFlagsFromString("--expose-gc");
  vm.runInNewContext("gc")();
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

Deno.test("a GIF of 5,000 pictures takes the memory of one", () =>
  withPath(async (path) => {
    const gif = new GifWriter(path, 50);
    const width = 160, height = 210;
    const used: number[] = [];
    let size = 0;
    for (let step = 0; step < 5000; step++) {
      const data = new Uint8Array(width * height * 3);
      data.fill(200, 3 * (step % width), 3 * (step % width) + 300);
      await gif.show({ width, height, data });
      data.fill(99); // It is the caller's again.
      if (step % 1000 !== 999) continue;
      used.push(bytesInUse());
      const after = (await Deno.stat(`${path}.tmp`)).size;
      assert(after > size);
      size = after;
    }
    // Pictures are 100 kB each, 500 MB in all.
    const most = Math.max(...used) - used[0];
    assert(most < 1_000_000, `${most} bytes more at ${used}`);
    await gif.finish();
    assertEquals(
      decode((await Deno.readFile(path)).buffer).frames.length,
      5000,
    );
  }));

Deno.test("a GIF is there only when it is whole", () =>
  withPath(async (path) => {
    const names = () =>
      [...Deno.readDirSync(path.slice(0, path.lastIndexOf("/")))]
        .map(({ name }) => name);
    await Deno.writeTextFile(path, "an older one");
    const given = new GifWriter(path, 20);
    await given.abort();
    await given.show(solid(1, 2, 3));
    assertEquals(names().sort(), ["x.gif", "x.gif.tmp"]);
    await given.abort();
    assertEquals(names(), ["x.gif"]);
    assertEquals(await Deno.readTextFile(path), "an older one");

    const lost = new GifWriter(path, 20);
    await lost.show(solid(1, 2, 3));
    await Deno.remove(`${path}.tmp`);
    const error = await assertRejects(() => lost.finish(), UsageError);
    assertEquals(
      error.message,
      `Cannot use the file ${path}: there is no such file or folder`,
    );
    await assertRejects(
      () => new GifWriter(`${path}/none/x.gif`, 20).show(solid(1, 2, 3)),
      UsageError,
    );
    assertEquals(names(), ["x.gif"]);
  }));
