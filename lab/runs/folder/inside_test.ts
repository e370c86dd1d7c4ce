import { assertEquals, assertThrows } from "@std/assert";
import { readTextInside } from "./inside.ts";
import { makePipe } from "./testdata/folders.ts";

const top = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-inside-" }),
);
globalThis.addEventListener("unload", () => {
  Deno.removeSync(top, { recursive: true });
});
const root = `${top}/root`;
Deno.mkdirSync(`${root}/folder`, { recursive: true });
Deno.mkdirSync(`${top}/root2`);

Deno.test("files inside of a folder are read, and nothing else", () => {
  const read = (path: string, most = 100) =>
    readTextInside(root, `${root}/${path}`, { most });
  Deno.writeTextFileSync(`${root}/folder/file`, "inside");
  Deno.writeTextFileSync(`${top}/secret`, "outside");
  Deno.writeTextFileSync(`${top}/root2/secret`, "outside");
  assertEquals([read("folder/file"), read("none")], ["inside", undefined]);
  Deno.symlinkSync(`${root}/folder/file`, `${root}/link`);
  assertEquals(read("link"), "inside");
  Deno.symlinkSync(`${top}/secret`, `${root}/out`);
  Deno.symlinkSync(`${top}/root2`, `${root}/folder/out`);
  makePipe(`${root}/pipe`);
  Deno.symlinkSync(`${root}/pipe`, `${root}/pipe link`);
  Deno.symlinkSync("/dev/zero", `${root}/device`);
  const refused: [path: string, why: string, most?: number][] = [
    ["out", "it leads out of its folder"],
    ["folder/out/secret", "it leads out of its folder"],
    ["../secret", "it leads out of its folder"],
    ["../root2/secret", "it leads out of its folder"],
    ["device", "it leads out of its folder"],
    ["pipe", "it is a pipe"],
    ["pipe link", "it is a pipe"],
    ["folder", "it is a folder"],
    [".", "it leads out of its folder"],
    ["folder/file", "it has 6 bytes, expected up to 5", 5],
  ];
  for (const [path, why, most] of refused) {
    assertThrows(() => read(path, most), Error, why, path);
  }
});
