import { assertEquals, assertThrows } from "@std/assert";
import { replaceFile, replaceFileSync } from "./atomic_file.ts";

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

Deno.test("what is written goes through no link", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const dir = await Deno.makeTempDir();
  const other = `${dir}/other`;
  for (const replace of [replaceFile, replaceFileSync]) {
    for (const target of [other, `${dir}/nowhere`]) {
      await Deno.writeTextFile(other, "kept");
      for (const name of ["a", "a.tmp"]) {
        await Deno.remove(`${dir}/${name}`).catch(() => {});
        await Deno.symlink(target, `${dir}/${name}`);
      }
      await replace(`${dir}/a`, "new");
      assertEquals(await Deno.readTextFile(`${dir}/a`), "new");
      assertEquals((await Deno.lstat(`${dir}/a`)).isFile, true);
      assertEquals(await Deno.readTextFile(other), "kept");
      const names = [...Deno.readDirSync(dir)].map(({ name }) => name);
      assertEquals(names.sort(), ["a", "other"]);
    }
  }
  await Deno.remove(dir, { recursive: true });
});
