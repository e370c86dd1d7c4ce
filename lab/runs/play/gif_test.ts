import { assert, assertEquals, assertRejects } from "@std/assert";
import { decode } from "modern-gif";
import v8 from "node:v8";
import vm from "node:vm";
import { UsageError } from "../program/errors.ts";
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

function solid(red: number, green: number, blue: number): RgbImage {
  const data = new Uint8Array(8 * 4 * 3);
  for (let i = 0; i < data.length; i += 3) data.set([red, green, blue], i);
  return { width: 8, height: 4, data };
}

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
