/** The packages in Node, beside the same in Deno. */
import { assert, assertEquals } from "@std/assert";
import { runDeno } from "./testdata/run_deno.ts";
import { bundle, nodes, nodeTest, runProgram } from "./testdata/run_node.ts";
import { withFolder } from "./testdata/with_folder.ts";

nodeTest(
  "bytes that are written as text are the same",
  () =>
    withFolder(async (folder) => {
      const program = new URL("testdata/bytes.ts", import.meta.url);
      await bundle(program, `${folder}/main.mjs`);
      const expected = await runDeno(["-A", program.pathname]);
      assert(expected.out.length > 1000, expected.err);
      for (const { path } of nodes) {
        assertEquals(await runProgram(path, [`${folder}/main.mjs`]), expected);
      }
    }),
);
