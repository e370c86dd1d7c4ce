/** The bar of `train` on terminals, which the program `script` of util-linux makes. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { bundle, nodes, runProgram } from "../../tests/testdata/run_node.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";
import { withFolder } from "../../tests/testdata/with_folder.ts";
import { Screen } from "./testdata/screen.ts";

const PROGRAM = new URL("testdata/show_progress.ts", import.meta.url);
const RUN = ["run", "-q", "--no-check", "--no-prompt", PROGRAM.pathname];

const isThere = await runProgram("script", ["--version"])
  .then(({ out }) => out.includes("util-linux"), () => false);
const terminalTest = testsWith("script", isThere);

/** Runs a program on a terminal; returns what is left there. */
async function onTerminal(
  program: string,
  args: readonly string[],
  options: Record<string, unknown> = {},
): Promise<string[]> {
  const command = [program, ...args, JSON.stringify(options)]
    .map((it) => `'${it}'`).join(" ");
  const { code, out } = await runProgram(
    "script",
    ["-qec", command, "/dev/null"],
    { env: { NO_COLOR: "1" }, stdin: "null" },
  );
  assertEquals(code, 0, out);
  const screen = new Screen({ columns: 80 });
  screen.write(out);
  return screen.lines.filter((line) => line !== "");
}

function assertBar(lines: readonly string[]): void {
  assertEquals(lines.length, 1, lines.join("\n"));
  assertMatch(
    lines[0],
    /^100% {2}━+ {2}4,000\/4,000 steps {2}.* return 9\.\d$/,
  );
}

terminalTest(
  "train shows one line in Deno, without permissions",
  async () => assertBar(await onTerminal(Deno.execPath(), RUN)),
);

terminalTest(
  "train shows one line in Node",
  () =>
    withFolder(async (folder) => {
      await bundle(PROGRAM, `${folder}/main.mjs`);
      for (const { path } of nodes) {
        assertBar(await onTerminal(path, [`${folder}/main.mjs`]));
      }
    }),
);

terminalTest("train shows nothing where it is not wanted", async () => {
  for (const options of [{ progress: false }, { callbacks: [{}] }]) {
    assertEquals(await onTerminal(Deno.execPath(), RUN, options), []);
  }
  assertBar(
    await onTerminal(Deno.execPath(), RUN, {
      callbacks: [{}],
      progress: true,
    }),
  );
});

Deno.test("train shows nothing where there is no terminal", async () => {
  const { code, out, err } = await runProgram(Deno.execPath(), [
    ...RUN,
    '{ "progress": true }',
  ]);
  assert(code === 0);
  assertEquals([out, err], ["", ""]);
});
