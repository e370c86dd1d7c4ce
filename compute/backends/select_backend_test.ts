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

/** Runs a script next to this file in a process of its own. */
async function inProcess(
  code: string,
  permissions: readonly string[],
): Promise<{ stdout: string; stderr: string }> {
  const script = await Deno.makeTempFile({ suffix: ".ts", dir: HERE });
  try {
    const imports = `import * as tf from "@tensorflow/tfjs";
      import { compile, ensureBackend, noticeNoBackend, selectBackend } from "../mod.ts";`;
    await Deno.writeTextFile(script, imports + code);
    const { out, err } = await runDeno([
      ...["--no-check", "--no-prompt", ...permissions, script],
    ]);
    return { stdout: out.trim(), stderr: err };
  } finally {
    await Deno.remove(script);
  }
}

/** Selects a backend in a process of its own, and computes. */
const select = (name: string, permissions: string[]) =>
  inProcess(
    `const selected = await selectBackend("${name}")
      .catch((error) => ({ name: error.message, description: "error" }));
    console.log(selected.name);
    if (selected.description !== "error") {
      console.log(tf.ones([2]).sum().dataSync()[0]);
    }`,
    permissions,
  );

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

Deno.test("without any permission, auto takes cpu and says why", async () => {
  const { stdout, stderr } = await select("auto", []);
  assertEquals(stdout, "cpu\n2");
  assertMatch(
    stderr,
    /^Computing in plain JavaScript, 4 to 17 times slower than WebAssembly: its binary cannot be read: allow it with --allow-read=\S+\n$/,
  );
});

/** Lines that a program prints, the last of which is its backend. */
async function linesOf(code: string): Promise<string[]> {
  const { stdout, stderr } = await inProcess(
    `const say = console.log;
    const eager = () => compile(({ x }) => ({ y: tf.neg(x) }), {
      inputs: { x: { shape: [], dtype: "float32" } },
      engine: "eager",
    });
    ${code}
    say(String(tf.getBackend()));`,
    ["--allow-read"],
  );
  assertEquals(stderr, "");
  return stdout.split("\n");
}

Deno.test("where nobody has selected a backend, auto is", async () => {
  assertEquals(await linesOf("await ensureBackend();"), ["wasm"]);
  // TensorFlow.js took one itself, when it computed.
  const computed = "eager().run({ x: 1 }); say(tf.getBackend());";
  assertEquals(await linesOf(`${computed} await ensureBackend();`), [
    "cpu",
    "wasm",
  ]);
});

Deno.test("a backend that was selected stays", async () => {
  for (const select of ["selectBackend", "tf.setBackend"]) {
    const body = `await ${select}("cpu"); eager(); await ensureBackend();
      noticeNoBackend(say);`;
    assertEquals(await linesOf(body), ["cpu"]);
  }
});

Deno.test("that nobody has selected a backend is said once", async () => {
  assertEquals(await linesOf(`noticeNoBackend(say); noticeNoBackend(say);`), [
    "Computing in plain JavaScript, 4 to 17 times slower than WebAssembly: no backend is selected, expected 'await selectBackend()' of @bellman/compute first",
    "undefined",
  ]);
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

Deno.test("a backend is selected with each of the options that there are", async () => {
  const options = { onNotice: () => {}, wasmPaths: undefined };
  assertEquals((await selectBackend("cpu", options)).name, "cpu");
});
