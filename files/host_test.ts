import { assert, assertEquals } from "@std/assert";
import {
  bundle,
  nodes,
  nodeTest,
  runProgram,
} from "../tests/testdata/run_node.ts";
import { withFolder } from "../tests/testdata/with_folder.ts";
import { chromiumTest, inPage } from "../tests/testdata/run_page.ts";
import {
  environmentVariable,
  inspect,
  isColorUnwanted,
  isDeno,
  isNotCapable,
  memoryBytes,
  permissionState,
  platform,
} from "./host.ts";

const HOST = new URL("./host.ts", import.meta.url);

Deno.test("Deno answers for itself", () => {
  assert(isDeno());
  assertEquals(permissionState({ name: "net" as "ffi" }), "prompt");
  assertEquals(environmentVariable("PATH"), Deno.env.get("PATH"));
  assertEquals(isColorUnwanted(), Deno.noColor);
  assert(isNotCapable(new Deno.errors.NotCapable()));
  assertEquals(inspect({ width: [-1, 2n] }), "{ width: [ -1, 2n ] }");
  const { total, swapTotal } = Deno.systemMemoryInfo();
  assertEquals(memoryBytes(), total + swapTotal);
  assertEquals(platform(), Deno.build);
});

/** Asks for everything; a value in a circle has no JSON. */
const ASK = `(() => {
  const circle = {};
  circle.circle = circle;
  return JSON.stringify([
    host.isDeno(),
    host.permissionState({ name: "ffi" }),
    host.isNotCapable(new Error()),
    host.inspect({ width: [-1] }),
    host.inspect(NaN),
    host.inspect(circle),
    host.environmentVariable("HOME") ?? null,
    host.platform(),
    host.memoryBytes() > 2 ** 26,
  ]);
})()`;

const ALIKE = [
  false,
  "granted",
  false,
  '{"width":[-1]}',
  "NaN",
  "[object Object]",
];

nodeTest(
  "permissions are granted and platforms have Deno's names in Node",
  () =>
    withFolder(async (folder) => {
      await bundle(HOST, `${folder}/host.mjs`, { platform: "browser" });
      const code =
        `import("${folder}/host.mjs").then((host) => console.log(${ASK}))`;
      const { os, arch } = Deno.build, home = Deno.env.get("HOME") ?? null;
      for (const { path } of nodes) {
        const { out, err } = await runProgram(path, ["-e", code]);
        assertEquals(err, "");
        assertEquals(JSON.parse(out), [...ALIKE, home, { os, arch }, true]);
      }
    }),
);

chromiumTest(
  "a page has no variables, and no memory to tell of",
  () =>
    withFolder(async (folder) => {
      await bundle(HOST, `${folder}/host.js`, { platform: "browser" });
      const code = `import("/host.js").then((host) => ${ASK})`;
      const { values: [answers], complaints } = await inPage(folder, code);
      assertEquals(
        JSON.parse(answers as string),
        [...ALIKE, null, { os: "page", arch: "wasm" }, false],
      );
      assertEquals(complaints, []);
    }),
);
