import { assert, assertEquals, assertMatch } from "@std/assert";
import { isXlaInstalled } from "../xla/install/installed.ts";
import { runDeno } from "../../tests/testdata/run_deno.ts";

const HERE = new URL(".", import.meta.url).pathname;

/** Compiles three functions with an engine, and tells what came of each. */
const SCRIPT = `
import * as tf from "@tensorflow/tfjs";
import { compile, compileStep, type Engine, selectEngine } from "../mod.ts";

await tf.setBackend("cpu");
const engine = Deno.args[0] as Engine;
const x = { shape: [2], dtype: "float32" } as const;
for (const factor of [2, 3]) {
  try {
    const f = compile(({ x }) => ({ y: tf.mul(x, factor) }), {
      inputs: { x },
      engine,
    });
    console.log(f.engine, f.run({ x: Float32Array.of(1, 2) }).y.join());
  } catch (error) {
    console.log((error as Error).message);
  }
}
try {
  const step = compileStep(
    ({ n }) => ({ state: { n: tf.add(n, 1) } }),
    { state: { n: tf.scalar(0) }, inputs: {}, engine },
  );
  step.run({});
  console.log(step.engine, step.read().n.data[0]);
} catch (error) {
  console.log((error as Error).message);
}
try {
  selectEngine(engine);
} catch {
  // Told above.
}
`;

interface Told {
  readonly lines: string[];
  readonly notices: string[];
}

/** What the script says in a process of its own. */
async function compileIn(
  engine: "auto" | "onnx" | "xla",
  { permissions = ["-A"], library, plugin }: {
    permissions?: string[];
    library?: string;
    plugin?: string;
  },
): Promise<Told> {
  const script = await Deno.makeTempFile({ suffix: ".ts", dir: HERE });
  try {
    await Deno.writeTextFile(script, SCRIPT);
    const { out, err } = await runDeno([
      ...["--no-prompt", ...permissions, script, engine],
    ], {
      env: {
        ...(library === undefined ? {} : { BELLMAN_ONNXRUNTIME: library }),
        ...(plugin === undefined ? {} : { BELLMAN_XLA_PLUGIN: plugin }),
      },
    });
    const lines = (text: string) =>
      text.split("\n").filter((line) =>
        // TensorFlow.js's own advertisement.
        line !== "" && !/^=+$|TensorFlow\.js in Node/.test(line)
      );
    return { lines: lines(out), notices: lines(err) };
  } finally {
    await Deno.remove(script);
  }
}

const EAGER = ["eager 2,4", "eager 3,6", "eager 1"];
const ONNX = ["onnx 2,4", "onnx 3,6", "onnx 1"];

Deno.test("auto is ONNX Runtime where that can be loaded", async () => {
  assertEquals(await compileIn("auto", {}), { lines: ONNX, notices: [] });
});

const NO_FFI: Record<string, string[]> = {
  "--deny-ffi": ["-A", "--deny-ffi"],
  "no --allow-ffi": ["--allow-read", "--allow-env", "--allow-sys"],
};

for (const [name, permissions] of Object.entries(NO_FFI)) {
  Deno.test(`with ${name}, auto falls back and says so once`, async () => {
    const { lines, notices } = await compileIn("auto", { permissions });
    assertEquals(lines, EAGER);
    assertEquals(notices, [
      "Not compiled, 10 to 30 times slower: ONNX Runtime needs --allow-ffi",
    ]);
  });

  Deno.test(`with ${name}, onnx by name is an error`, async () => {
    const { lines } = await compileIn("onnx", { permissions });
    const told = "Cannot use the engine 'onnx': ONNX Runtime needs --allow-ffi";
    assertEquals(lines, [told, told, told]);
  });

  Deno.test(`with ${name}, xla by name is an error [XLA]`, {
    ignore: !isXlaInstalled(),
  }, async () => {
    const { lines } = await compileIn("xla", { permissions });
    const told = "Cannot use the engine 'xla': XLA needs --allow-ffi";
    assertEquals(lines, [told, told, told]);
  });
}

/** A library that every system has. */
const OTHER = Deno.build.os === "linux" ? "libc.so.6" : "libSystem.dylib";

const LIBRARIES: Record<string, string> = {
  "does not exist": "/no/such/library.so",
  "is no library": import.meta.filename!,
  "is no ONNX Runtime": OTHER,
};

for (const [what, library] of Object.entries(LIBRARIES)) {
  Deno.test(`with a library that ${what}, auto falls back and says so once`, async () => {
    const { lines, notices } = await compileIn("auto", { library });
    assertEquals(lines, EAGER);
    assertEquals(notices.length, 1, notices.join("\n"));
    assertMatch(
      notices[0],
      /^Not compiled, 10 to 30 times slower: ONNX Runtime cannot be loaded: ./,
    );
  });

  Deno.test(`with a library that ${what}, onnx by name is an error`, async () => {
    const { lines, notices } = await compileIn("onnx", { library });
    assertEquals([lines.length, notices], [3, []]);
    for (const line of lines) {
      assert(
        line.startsWith(
          "Cannot use the engine 'onnx': ONNX Runtime cannot be loaded: ",
        ),
        line,
      );
    }
  });
}

Deno.test("xla by name compiles where its plugin is installed [XLA]", {
  ignore: !isXlaInstalled(),
}, async () => {
  const lines = ["xla 2,4", "xla 3,6", "xla 1"];
  assertEquals(await compileIn("xla", {}), { lines, notices: [] });
});

Deno.test("xla by name is an error without a plugin", async () => {
  const plugin = "/no/such/plugin.so";
  const { lines, notices } = await compileIn("xla", { plugin });
  const told =
    "Cannot use the engine 'xla': XLA cannot be loaded: Cannot find the XLA plugin '/no/such/plugin.so' that BELLMAN_XLA_PLUGIN names";
  assertEquals([lines, notices], [[told, told, told], []]);
});
