import { assertEquals, assertStringIncludes } from "@std/assert";
import { decode } from "fast-png";
import { cursorUp, encodePng, pngSink, toTerminal } from "./pictures.ts";

Deno.test("a PNG holds the picture exactly", () => {
  const data = Uint8Array.from({ length: 5 * 3 * 3 }, (_, i) => i * 5);
  const decoded = decode(encodePng({ width: 5, height: 3, data }));
  assertEquals([decoded.width, decoded.height, decoded.channels], [5, 3, 3]);
  assertEquals(new Uint8Array(decoded.data.buffer), data);
});

Deno.test("two rows of pixels become one row of half blocks", () => {
  const data = new Uint8Array([255, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 255]);
  const drawn = toTerminal({ width: 2, height: 2, data }, {
    columns: 80,
    rows: 24,
  });
  const cell = "\x1b[38;2;255;0;0;48;2;0;0;255m▀";
  assertEquals(drawn, `${cell}${cell}\x1b[0m`);
  assertEquals(cursorUp(drawn), "\x1b[1A\r");
});

Deno.test("a large picture is averaged down to the terminal's size", () => {
  const data = new Uint8Array(400 * 400 * 3);
  for (let i = 0; i < data.length; i += 6) data.fill(200, i, i + 3);
  const drawn = toTerminal({ width: 400, height: 400, data }, {
    columns: 40,
    rows: 10,
  });
  const lines = drawn.split("\n");
  assertEquals(lines.length, 10);
  assertEquals(lines[0].split("▀").length - 1, 20);
  assertStringIncludes(lines[0], "38;2;100;100;100");
});

Deno.test("a PNG is written through no link", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/episode_0_step_00001.png`, kept = `${dir}/kept`;
  await Deno.writeTextFile(kept, "kept");
  await Deno.symlink(kept, path);
  const picture = { width: 1, height: 1, data: new Uint8Array(3) };
  await pngSink(dir).show(picture, { episode: 0, step: 1, return: 0 });
  assertEquals(await Deno.readTextFile(kept), "kept");
  assertEquals(decode(await Deno.readFile(path)).width, 1);
  await Deno.remove(dir, { recursive: true });
});
