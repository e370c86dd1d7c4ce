import { isXlaInstalled } from "@bellman/compute/xla";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runDeno } from "../testdata/run_deno.ts";
import { nodeTest } from "../testdata/run_node.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

function reference(...args: string[]) {
  const flags = ["--lock=tests/deno.lock", "-P=run"];
  const main = [...flags, "tests/reference_runner/main.ts"];
  return runDeno([...main, ...args], { cwd: ROOT });
}

for (const engine of ["eager", "onnx", "xla"]) {
  Deno.test({
    name: `every fixture of the project passes on cpu ${
      engine === "xla" ? "[XLA]" : `(${engine})`
    }`,
    ignore: engine === "xla" && !isXlaInstalled(),
    async fn() {
      const { code, out } = await reference(
        "tests/reference",
        "--backend",
        "cpu",
        "--engine",
        engine,
      );
      assertEquals(code, 0, out);
      const lines = out.trim().split("\n");
      assert(lines.length >= 6);
      for (const line of lines) {
        const passed = line.match(
          /^\w+: (\d+) passed, 0 failed, worst deviation /,
        );
        assert(passed !== null && Number(passed[1]) > 0, line);
      }
    },
  });
}

for (const engine of ["eager", "onnx"]) {
  nodeTest(`a fixture passes in Node (${engine})`, async () => {
    const file = "tests/reference/a2c_update.json";
    const options = ["--host", "node", "--engine", engine];
    const { code, out, err } = await reference(file, ...options);
    assertEquals(code, 0, out + err);
    assertStringIncludes(out, "a2c_update: 12 passed, 0 failed, worst");
  });
}

Deno.test("a wrong number fails, and a fixture without a runner is named", async () => {
  const dir = await Deno.makeTempDir();
  const read = (name: string) =>
    Deno.readTextFile(`${ROOT}tests/reference/${name}`);
  const fixture = JSON.parse(await read("a2c_update.json"));
  fixture.cases[0].expected.after[1].loss += 1e-3;
  await Deno.writeTextFile(`${dir}/a2c_update.json`, JSON.stringify(fixture));
  await Deno.writeTextFile(`${dir}/a3c_loss.json`, '{"file":"a3c_loss"}');
  const { code, out } = await reference(dir);
  assertEquals(code, 1);
  assertStringIncludes(out, "a3c_loss: no runner");
  assertStringIncludes(out, ", 1 failed,");
  assertStringIncludes(out, "mlp1_linear, update 1: loss is off by");
  await Deno.remove(dir, { recursive: true });
});

for (
  const [args, message] of [
    [["tests/reference", "--engine", "graph"], "Unknown engine 'graph'"],
    [["tests/reference", "--backend", "gpu"], "Unknown backend 'gpu'"],
    [
      ["tests/reference", "--host", "nod"],
      "Unknown host 'nod': did you mean 'node'?",
    ],
    [["no/such/folder"], "Cannot read fixtures from no/such/folder"],
    [[], "Cannot run 0 folders of fixtures"],
  ] as const
) {
  Deno.test(`one clear line and exit code 2: ${message}`, async () => {
    const { code, err } = await reference(...args);
    assertEquals(code, 2);
    // Deno's own warnings aside.
    const lines = err.trim().split("\n").filter((it) => !/warning/i.test(it));
    assertEquals(lines.length, 1);
    assertStringIncludes(lines[0], message);
  });
}
