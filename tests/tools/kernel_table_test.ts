import { assert, assertEquals } from "@std/assert";
import { kernelTable } from "./kernel_table.ts";

/** Rows of a table without the spaces that a formatter puts in. */
function rows(text: string): string[] {
  return text.split("\n").filter((line) => line.startsWith("| "))
    .map((line) => line.replaceAll(/[\s-]+/g, " "));
}

Deno.test("the README shows the kernels and lowerings of the code", async () => {
  const readme = await Deno.readTextFile(
    new URL("../../compute/README.md", import.meta.url),
  );
  const shown = readme.slice(
    readme.indexOf("<!-- kernels -->"),
    readme.indexOf("<!-- /kernels -->"),
  );
  assertEquals(rows(shown), rows(kernelTable()), "run: deno task kernels");
});

Deno.test("every kernel becomes something", () => {
  const kernels = kernelTable().split("\n").filter((row) => row[2] === "`");
  assert(kernels.length > 100);
  for (const row of kernels) assert(/^\| `\w+` \| [a-zA-Z, ]+ \|$/.test(row));
});
