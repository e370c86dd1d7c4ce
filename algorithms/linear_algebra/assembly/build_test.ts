import { assertEquals } from "@std/assert";
import { sourcesDigest, TARGET } from "./build.ts";

Deno.test("the kernels' bytes are from the sources beside them", async () => {
  const { sources } = JSON.parse(await Deno.readTextFile(TARGET));
  assertEquals(
    sources,
    await sourcesDigest(),
    "run deno run --no-lock -A algorithms/linear_algebra/assembly/build.ts",
  );
});
