/** A2C's example, built by the bundlers that people use, run in pages and in Node. */
import { assertEquals, assertMatch } from "@std/assert";
import { dirname, join } from "node:path";
import { guideCode } from "../testdata/guide_code.ts";
import { EXAMPLE, type Packed, packInto } from "../testdata/packed.ts";
import type { Ran } from "../testdata/run_deno.ts";
import {
  installOnnxRuntime,
  nodes,
  nodeTest,
  npmInstall,
  runProgram,
} from "../testdata/run_node.ts";
import { hasChromium, inPage } from "../testdata/run_page.ts";
import { testsWith } from "../testdata/tests_with.ts";

/** Installed next to the packages, and nowhere else. */
const BUNDLERS = [
  "@rollup/plugin-commonjs@29",
  "@rollup/plugin-json@6",
  "@rollup/plugin-node-resolve@16",
  "esbuild@0.28",
  "next@16",
  "react@19",
  "react-dom@19",
  "rollup@4",
  "vite@8",
  "webpack@5",
];

/** What is said where neither ONNX Runtime nor a page's WebAssembly is. */
const NOT_COMPILED = "Not compiled, 10 to 30 times slower: ONNX Runtime needs ";
const IN_NODE = NOT_COMPILED +
  "koffi and onnxruntime-node: npm install koffi onnxruntime-node\n";
const IN_PAGES = `${NOT_COMPILED}Deno or Node`;
const PLAIN =
  /^Computing in plain JavaScript, 4 to 17 times slower than WebAssembly: (\S+|this bundle) has no tfjs-backend-wasm-simd\.wasm: put the binaries of npm's @tensorflow\/tfjs-backend-wasm there, or name their folder by selectBackend\("wasm", \{ wasmPaths \}\)\n?$/;
const WASM = "tfjs-backend-wasm-simd.wasm";

/** README's example as a function: formats of bundles differ in `await` at the top. */
function exampleModule(): string {
  const lines = EXAMPLE.split("\n").filter((it) => !/\bassert\b/.test(it));
  const imports = lines.filter((it) => it.startsWith("import "));
  const body = lines.slice(lines.indexOf(imports.at(-1)!) + 1);
  return `${imports.join("\n")}
export async function example() {
${body.join("\n")}
  return evaluation.meanReturn;
}\n`;
}

const HTML =
  `<!DOCTYPE html><title>Example</title><link rel="icon" href="data:,">
<script type="module" src="./SOURCE"></script>\n`;

/** Files of a project, as a user writes them. */
const PROJECT = {
  "package.json": '{ "private": true, "type": "module" }\n',
  "example.js": exampleModule(),
  "page.js":
    'import { example } from "./example.js";\nglobalThis.result = example();\n',
  "program.js":
    'import { example } from "./example.js";\nexample().then(console.log);\n',
  "index.html": HTML.replace("SOURCE", "page.js"),
  "app/layout.js": `export default function Layout({ children }) {
  return (
    <html lang="en">
      <head><link rel="icon" href="data:," /></head>
      <body>{children}</body>
    </html>
  );
}\n`,
  "app/page.js": guideCode("node_and_pages", "app/page.js", "jsx"),
  "next.config.js": 'export default { output: "export" };\n',
};

const folder = await Deno.makeTempDir({ prefix: "bellman-bundlers-" });
Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));
const app = join(folder, "app");
const BUILD = new URL("../testdata/build_bundle.mjs", import.meta.url);

let archives: Promise<ReadonlyMap<string, Packed>> | undefined;
const packed = () => archives ??= packInto(join(folder, "packed"));
let made: Promise<void> | undefined;

/** Makes the project, with packages and bundlers. */
async function makeProject(): Promise<void> {
  for (const [name, text] of Object.entries(PROJECT)) {
    await Deno.mkdir(dirname(join(app, name)), { recursive: true });
    await Deno.writeTextFile(join(app, name), text);
  }
  await Deno.copyFile(BUILD, join(app, "build.mjs"));
  const paths = Array.from((await packed()).values(), ({ path }) => path);
  await npmInstall(app, ...paths, ...BUNDLERS);
}

/** Runs a program of the project by the oldest Node. */
async function run(args: readonly string[]): Promise<Ran> {
  await (made ??= makeProject());
  const env = { NEXT_TELEMETRY_DISABLED: "1", NO_COLOR: "1" };
  return await runProgram(nodes[0].path, args, { cwd: app, env });
}

/** Builds without a warning; returns the folder. */
async function build(name: string): Promise<string> {
  const out = join(app, "built", name.replaceAll(/\W+/g, "-"));
  const built = await run(["build.mjs", name, out]);
  assertEquals([built.code, built.err], [0, ""]);
  assertEquals(built.out.trim().split("\n").at(-1), "[]");
  return out;
}

/** The mean return that the program has without a bundler. */
let expected: Promise<number> | undefined;
const unbundled = () =>
  expected ??= run(["program.js"]).then(({ code, out, err }) => {
    assertEquals([code, err], [0, IN_NODE]);
    return Number(out);
  });

const pageTest = testsWith(
  "Node, Chromium",
  nodes.length > 0 && hasChromium(),
);

/** Lays the binary of WebAssembly next to a page. */
const addWasm = (page: string) =>
  Deno.copyFile(
    join(app, "node_modules/@tensorflow/tfjs-backend-wasm/dist", WASM),
    join(page, WASM),
  );

/** What the browser itself tells of a file that is not there. */
const isMissing = (line: string) => / 404 /.test(line);

for (const name of ["esbuild", "webpack", "Rollup"]) {
  pageTest(`${name} builds the example for pages`, async () => {
    const out = await build(`${name} for pages`);
    const html = HTML.replace("SOURCE", "main.js");
    await Deno.writeTextFile(join(out, "index.html"), html);
    await addWasm(out);
    const { values, complaints } = await inPage(out, "result");
    assertEquals(complaints, [IN_PAGES]);
    assertEquals(values, [await unbundled()]);
  });
}

pageTest(
  "Vite builds the example; a page without WebAssembly says so",
  async () => {
    const out = await build("Vite");
    const without = await inPage(out, "result");
    const [compiled, plain] = without.complaints.filter((it) => !isMissing(it));
    assertEquals(compiled, IN_PAGES);
    assertMatch(plain, PLAIN);
    assertEquals(typeof without.values[0], "number");
    await addWasm(out);
    const { values, complaints } = await inPage(out, "result");
    assertEquals(complaints, [IN_PAGES]);
    assertEquals(values, [await unbundled()]);
  },
);

/** Waits for a return above that of untrained agents, with a picture. */
const WATCH = `(async () => {
  const text = () => document.querySelector("p").textContent;
  const score = () => Number(/^return (\\d+)$/.exec(text())?.[1]);
  while (!(score() > 30)) await new Promise((it) => setTimeout(it, 20));
  const { width, height } = document.querySelector("canvas");
  const context = document.querySelector("canvas").getContext("2d");
  const { data } = context.getImageData(0, 0, width, height);
  return [width, height, new Set(new Uint32Array(data.buffer)).size > 3];
})()`;

for (const flags of [[], ["--webpack"]]) {
  pageTest(`Next.js builds a page that plays ${flags.join()}`, async () => {
    const next = "node_modules/next/dist/bin/next";
    const { code, out, err } = await run([next, "build", ...flags]);
    assertEquals(code, 0, out + err);
    assertEquals((out + err).match(/.*\b(?:warn|error|failed)\b.*/gi), null);
    const page = join(app, "out");
    await addWasm(page);
    const { values, complaints } = await inPage(page, WATCH);
    assertEquals(complaints, [IN_PAGES]);
    assertEquals(values, [[600, 400, true]]);
  });
}

const FOR_NODE = {
  "esbuild for Node, as a module": "main.mjs",
  "esbuild for Node, as CommonJS": "main.cjs",
  "webpack for Node": "main.cjs",
  "Rollup for Node": "main.mjs",
};

for (const [name, file] of Object.entries(FOR_NODE)) {
  nodeTest(`${name} builds the example`, async () => {
    const out = `${await unbundled()}\n`, cwd = await build(name);
    for (const { path } of nodes) {
      assertEquals(
        await runProgram(path, [file], { cwd }),
        { code: 0, out, err: IN_NODE },
      );
    }
  });
}

nodeTest(
  "each package, bundled as a module for Node, loads there",
  async () => {
    const entries = Array.from(
      (await packed()).values(),
      ({ name, exports }) =>
        Object.keys(exports).map((it) => name + it.slice(1)),
    )
      .flat()
      .filter((it) => it !== "@bellman/envs/mujoco/wasm"); // Looks for a file.
    const exports = entries.map((it) =>
      `export * from ${JSON.stringify(it)};\n`
    );
    for (const [i, text] of exports.entries()) {
      await Deno.writeTextFile(join(app, `entry_${i}.js`), text);
    }
    const { code, out, err } = await run(["build.mjs", "entries", "entries"]);
    assertEquals([code, out, err], [0, "[]\n", ""]);
    for (const [i, name] of entries.entries()) {
      const ran = await run(["-e", `import("./entries/entry_${i}.mjs")`]);
      assertEquals(ran, { code: 0, out: "", err: "" }, name);
    }
  },
);

nodeTest("a bundle that lies alone says what it lacks", async () => {
  const from = await build("esbuild for Node, as a module");
  const alone = join(folder, "alone");
  await Deno.mkdir(alone);
  await Deno.copyFile(join(from, "main.mjs"), join(alone, "main.mjs"));
  for (const { path } of nodes) {
    const ran = await runProgram(path, ["main.mjs"], { cwd: alone });
    assertEquals(ran.code, 0, ran.err);
    const [compiled, plain] = ran.err.split(/(?<=\n)/);
    assertEquals(compiled, IN_NODE);
    assertMatch(plain, PLAIN);
  }
});

nodeTest(
  "a bundle finds ONNX Runtime among the packages around it",
  async () => {
    const out = await build("esbuild for Node, as a module");
    const around = join(app, "built");
    await Deno.writeTextFile(join(around, "package.json"), "{}");
    await installOnnxRuntime(around);
    for (const { path } of nodes) {
      const { code, err } = await runProgram(path, ["main.mjs"], { cwd: out });
      assertEquals([code, err], [0, ""]);
    }
    await Deno.remove(join(around, "node_modules"), { recursive: true });
  },
);
