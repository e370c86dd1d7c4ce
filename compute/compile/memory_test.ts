/** Memory over many compiled calls, in Deno and in Node. */
import { assert, assertEquals } from "@std/assert";
import {
  bundle,
  installOnnxRuntime,
  nodes,
  nodeTest,
  runProgram,
} from "../../tests/testdata/run_node.ts";
import { withFolder } from "../../tests/testdata/with_folder.ts";
import { growth } from "./testdata/memory_growth.ts";

const CALLS = 20_000;
const PROGRAM = new URL("./testdata/memory_growth.ts", import.meta.url);

function assertFlat(
  { tensors, megabytes }: Awaited<ReturnType<typeof growth>>,
) {
  assertEquals(tensors, 0);
  assert(megabytes < 8, `${megabytes.toFixed(1)} MB more than before`);
}

for (const areNew of [false, true]) {
  const arrays = areNew ? "new arrays" : "the same arrays";
  Deno.test(`20,000 compiled calls with ${arrays} leave memory flat`, async () =>
    assertFlat(await growth(CALLS, { areNew })));
}

nodeTest(
  "20,000 compiled calls leave memory flat",
  () =>
    withFolder(async (folder) => {
      await bundle(PROGRAM, `${folder}/main.mjs`);
      await installOnnxRuntime(folder);
      const code = `import("${folder}/main.mjs")
      .then((it) => it.growth(${CALLS}, { areNew: true }))
      .then((it) => console.log(JSON.stringify(it)))`;
      for (const { path } of nodes) {
        const { out, err } = await runProgram(path, ["-e", code]);
        assertEquals(err, "");
        assertFlat(JSON.parse(out));
      }
    }),
);
