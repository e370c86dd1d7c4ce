import { assert, assertEquals } from "@std/assert";
import { bundleForPages } from "../tests/hosts/testdata/bundle.ts";
import { chromiumTest, inPage } from "../tests/hosts/testdata/chromium.ts";
import { nodeTests } from "../tests/hosts/testdata/node.ts";
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

/** Runs in a folder with `host.js`. */
async function withBundle(use: (folder: string) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  try {
    await bundleForPages(HOST, `${folder}/host.js`);
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

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

nodeTests(
  "permissions are granted and platforms have Deno's names",
  (runNode) =>
    withBundle(async (folder) => {
      const code =
        `import("${folder}/host.js").then((host) => console.log(${ASK}))`;
      const { os, arch } = Deno.build, home = Deno.env.get("HOME") ?? null;
      assertEquals(
        JSON.parse(await runNode("-e", code)),
        [...ALIKE, home, { os, arch }, true],
      );
    }),
);

chromiumTest(
  "a page has no variables, and no memory to tell of",
  () =>
    withBundle(async (folder) => {
      const code = `import("/host.js").then((host) => ${ASK})`;
      const { values: [answers], complaints } = await inPage(folder, code);
      assertEquals(
        JSON.parse(answers as string),
        [...ALIKE, null, { os: "page", arch: "wasm" }, false],
      );
      assertEquals(complaints, []);
    }),
);
