import { assertEquals, assertThrows } from "@std/assert";
import { isFile } from "./_files.ts";

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
