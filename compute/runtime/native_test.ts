import { assert, assertEquals } from "@std/assert";
import { runDeno } from "../../tests/testdata/run_deno.ts";
import {
  bundle,
  installOnnxRuntime,
  nodes,
  nodeTest,
  runProgram,
} from "../../tests/testdata/run_node.ts";
import { withFolder } from "../../tests/testdata/with_folder.ts";

const COLLECTED = new URL("./testdata/collected.ts", import.meta.url);

/** What the program says: all results are right, and nothing is left behind. */
function assertHeld(
  { code, out, err }: { code: number; out: string; err: string },
): void {
  assertEquals([code, err], [7, ""]);
  const { right, grown } = JSON.parse(out);
  assertEquals(right, [3_000, 3_000, 3_000]);
  assert(grown < 16, `${grown} MB more than before`);
}

Deno.test("arrays and functions outlive 3,000 runs with collections", async () =>
  assertHeld(
    await runDeno(["-A", "--v8-flags=--expose-gc", COLLECTED.pathname]),
  ));

nodeTest("the same in Node, by koffi", () =>
  withFolder(async (folder) => {
    await bundle(COLLECTED, `${folder}/main.mjs`);
    await installOnnxRuntime(folder);
    for (const { path } of nodes) {
      const args = ["--expose-gc", `${folder}/main.mjs`];
      assertHeld(await runProgram(path, args));
    }
  }));

nodeTest(
  "a line says which packages are missing in Node",
  () =>
    withFolder(async (folder) => {
      await bundle(COLLECTED, `${folder}/main.mjs`);
      for (const { path } of nodes) {
        const args = ["--expose-gc", `${folder}/main.mjs`];
        const { code, err } = await runProgram(path, args);
        assertEquals(code, 1);
        const line = "Error: ONNX Runtime needs koffi and onnxruntime-node: " +
          "npm install koffi onnxruntime-node\n";
        assert(err.includes(line), err);
      }
    }),
);
