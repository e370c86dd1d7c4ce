import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "./select_backend.ts";
import { runDeno } from "../../tests/testdata/run_deno.ts";

const HERE = new URL(".", import.meta.url).pathname;

Deno.test("a backend asked for is the one that is taken", async () => {
  for (const name of ["wasm", "cpu"] as const) {
    assertEquals((await selectBackend(name)).name, name);
    assertEquals(tf.getBackend(), name);
  }
});

Deno.test("an unknown backend is one line with the nearest name", async () => {
  await assertRejects(
    () => selectBackend("wsam" as "wasm"),
    RangeError,
    "Unknown backend 'wsam': did you mean 'wasm'?",
  );
});

/** Runs a script that selects a backend in a process of its own. */
async function select(
  name: string,
  permissions: string[],
): Promise<{ stdout: string; stderr: string }> {
  const script = await Deno.makeTempFile({ suffix: ".ts", dir: HERE });
  try {
    await Deno.writeTextFile(
      script,
      `import { selectBackend } from "../mod.ts";
      import * as tf from "@tensorflow/tfjs";
      const selected = await selectBackend("${name}" as "auto")
        .catch((error) => ({ name: error.message, description: "error" }));
      console.log(selected.name);
      if (selected.description !== "error") {
        console.log(tf.ones([2]).sum().dataSync()[0]);
      }`,
    );
    const { out, err } = await runDeno(["--no-prompt", ...permissions, script]);
    return { stdout: out.trim(), stderr: err };
  } finally {
    await Deno.remove(script);
  }
}

Deno.test("auto takes one, with nothing else on the terminal", async () => {
  const { stdout, stderr } = await select("auto", ["-A"]);
  const [name, sum] = stdout.split("\n");
  assert(["tensorflow", "wasm"].includes(name), name);
  assertEquals([sum, stderr], ["2", ""]);
});

Deno.test("wasm needs to read and nothing more", async () => {
  const { stdout, stderr } = await select("wasm", ["--allow-read"]);
  assertEquals([stdout, stderr], ["wasm\n2", ""]);
});

Deno.test("without the permission, wasm is one line that names it", async () => {
  const { stdout, stderr } = await select("wasm", []);
  assertMatch(
    stdout,
    /^Cannot use the wasm backend: its binary cannot be read: allow it with --allow-read=\S+$/,
  );
  assertEquals(stderr, "");
});

Deno.test("without any permission, auto takes cpu and stays quiet", async () => {
  const { stdout, stderr } = await select("auto", []);
  assertEquals([stdout, stderr], ["cpu\n2", ""]);
});

Deno.test("a folder without WebAssembly's binaries is one line", async () => {
  const empty = await Deno.makeTempDir();
  await assertRejects(
    () => selectBackend("wasm", { wasmPaths: empty }),
    Error,
    `Cannot use the wasm backend: ${empty} has no tfjs-backend-wasm-simd.wasm: put`,
  );
  await Deno.remove(empty);
});
