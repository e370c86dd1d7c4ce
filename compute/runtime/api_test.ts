import { assert, assertEquals } from "@std/assert";
import { libraryPath, runtimeVersion } from "./api.ts";
import { runDeno } from "../../tests/testdata/run_deno.ts";

const VARIABLE = "BELLMAN_ONNXRUNTIME";

Deno.test("the npm package carries the library", async () => {
  const before = Deno.env.get(VARIABLE);
  Deno.env.delete(VARIABLE);
  try {
    assert((await Deno.stat(libraryPath())).isFile);
    assert(libraryPath().includes(runtimeVersion()), libraryPath());
  } finally {
    if (before !== undefined) Deno.env.set(VARIABLE, before);
  }
});

Deno.test("a variable of the environment names another one", () => {
  const before = Deno.env.get(VARIABLE);
  Deno.env.set(VARIABLE, "/elsewhere/libonnxruntime.so");
  try {
    assertEquals(libraryPath(), "/elsewhere/libonnxruntime.so");
  } finally {
    if (before === undefined) Deno.env.delete(VARIABLE);
    else Deno.env.set(VARIABLE, before);
  }
});

/** Names of the files that a program leaves in its home and temporary folder. */
async function leftBy(script: string): Promise<string[]> {
  const home = await Deno.makeTempDir({ prefix: "bellman-home-" });
  try {
    const { code, err } = await runDeno([script], {
      command: "eval",
      env: {
        ...{ HOME: home, TMPDIR: home, XDG_CACHE_HOME: `${home}/cache` },
        // What is downloaded stays where it is.
        DENO_DIR: Deno.env.get("DENO_DIR") ??
          `${Deno.env.get("HOME")}/.cache/deno`,
      },
    });
    assertEquals([code, err], [0, ""]);
    return Array.from(Deno.readDirSync(home), ({ name }) => name);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

const CODE = `
  import { compile } from ${
  JSON.stringify(new URL("../mod.ts", import.meta.url).href)
};
  import * as tf from "@tensorflow/tfjs";
  const f = compile(({ x }) => ({ y: tf.exp(x) }), {
    inputs: { x: { shape: [2], dtype: "float32" } },
    engine: "onnx",
  });
  f.run({ x: new Float32Array(2) });
`;

Deno.test(
  "the library reports nothing to its makers, and keeps no id for it [Linux]",
  { ignore: Deno.build.os !== "linux" },
  async () => assertEquals(await leftBy(CODE), []),
);
