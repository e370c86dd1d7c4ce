import { assertEquals, assertThrows } from "@std/assert";
import { cacheFolder, neededVariable } from "./cache_folder.ts";
import { isFile } from "./permission.ts";

Deno.test("isFile tells files from folders and from what is not there", () => {
  const file = new URL(import.meta.url).pathname;
  const paths = [file, `${file}/..`, `${file}.gone`];
  assertEquals(paths.map(isFile), [true, false, false]);
});

Deno.test({
  name: "isFile says which permission it lacks",
  permissions: { read: false },
  fn: () => {
    assertThrows(
      () => isFile("/some/file"),
      Deno.errors.NotCapable,
      "Cannot look for '/some/file': it needs the permission --allow-read=/some/file",
    );
  },
});

Deno.test({
  name: "cacheFolder says which permission it lacks",
  permissions: { env: ["HOME"] },
  fn: () => {
    assertEquals(typeof neededVariable("HOME"), "string");
    assertThrows(
      () => cacheFolder(),
      Deno.errors.NotCapable,
      "Cannot read the variable BELLMAN_CACHE: it needs the permission --allow-env=BELLMAN_CACHE",
    );
  },
});
