import { assertEquals, assertThrows } from "@std/assert";
import { replaceFileSync } from "./atomic_file.ts";

Deno.test("a file is replaced in one go, with nothing left beside it", async () => {
  const dir = await Deno.makeTempDir();
  replaceFileSync(`${dir}/a`, "old");
  replaceFileSync(`${dir}/a`, new Uint8Array([110, 101, 119]));
  assertEquals(Deno.readTextFileSync(`${dir}/a`), "new");
  assertEquals([...Deno.readDirSync(dir)].map(({ name }) => name), ["a"]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("when writing fails the old file stays", async () => {
  const dir = await Deno.makeTempDir();
  replaceFileSync(`${dir}/a`, "old");
  // The temporary name is taken by a folder.
  Deno.mkdirSync(`${dir}/a.tmp`);
  assertThrows(() => replaceFileSync(`${dir}/a`, "new"));
  assertEquals(Deno.readTextFileSync(`${dir}/a`), "old");
  await Deno.remove(dir, { recursive: true });
});
