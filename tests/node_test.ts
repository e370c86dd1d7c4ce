/** The packages in Node, beside the same in Deno. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { runDeno } from "./testdata/run_deno.ts";
import {
  bundle,
  findNode,
  nodes,
  nodeTest,
  runProgram,
} from "./testdata/run_node.ts";
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

nodeTest("an old Node says so in one line", () =>
  withFolder(async (folder) => {
    const files = new URL("../files/mod.ts", import.meta.url);
    await bundle(files, `${folder}/main.mjs`);
    const old = await findNode("20");
    for (const { version, path } of [old, ...nodes]) {
      const ran = await runProgram(path, [`${folder}/main.mjs`]);
      const line =
        /^Node 20\.\d+\.\d+ is too old for Bellman, which may fail: expected Node 22 or newer\n$/;
      assertEquals([ran.code, ran.out], [0, ""]);
      assertMatch(ran.err, version === "20" ? line : /^$/);
    }
  }));
