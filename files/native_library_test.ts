import { assertEquals, assertThrows } from "@std/assert";
import { openLibrary } from "./native_library.ts";
import { runDeno } from "../tests/testdata/run_deno.ts";
import { withFolder } from "../tests/testdata/with_folder.ts";

const PROGRAM = new URL("./testdata/open_in_thread.ts", import.meta.url);

Deno.test({
  name: "a library stays when the thread that opened it is gone",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withFolder(async (folder) => {
      const outOf = async (way: string) => {
        const args = ["-A", PROGRAM.pathname, way, folder];
        const { out, err } = await runDeno(args);
        assertEquals(err, "");
        return out;
      };
      assertEquals(await outOf("kept"), "true true\n");
      assertEquals(await outOf("unloaded"), "true false\n");
    }),
});

Deno.test("what cannot be opened is told as by Deno", () => {
  assertThrows(() => openLibrary("/nowhere/libnone.so", {}), Error, "libnone");
});
