/**
 * Each test file that opens XLA ends clean after its tests that need it: threads
 * and destructors outlive the code that opened it.
 */
import { isXlaInstalled } from "@bellman/compute/xla";
import { assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Lists the test files of a folder and of those in it. */
function testFilesIn(folder: string): string[] {
  return [...Deno.readDirSync(ROOT + folder)].flatMap((it) => {
    const path = `${folder}/${it.name}`;
    if (it.isDirectory) return testFilesIn(path);
    return path.endsWith("_test.ts") ? [path] : [];
  });
}

const FILES = [
  ...testFilesIn("compute/xla"),
  "compute/compile/_xla_engine_test.ts",
  "compute/compile/compile_test.ts",
  "algorithms/agent/device_agent_test.ts",
];

for (const file of FILES) {
  Deno.test({
    name: `the process of ${file} ends clean [XLA]`,
    ignore: !isXlaInstalled(),
    async fn() {
      const { code, signal, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["test", "-q", "--no-check", "-P=test", "--filter=[XLA]", file],
        cwd: ROOT,
        env: { NO_COLOR: "1" },
      }).output();
      const error = new TextDecoder().decode(stderr);
      assertEquals({ code, signal, error }, {
        code: 0,
        signal: null,
        error: "",
      });
    },
  });
}
