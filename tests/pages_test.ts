/** The packages bundled for pages, and in Node. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { trainWell } from "./runs.ts";
import { learn } from "./testdata/eager_agent.ts";
import { guideCode } from "./testdata/guide_code.ts";
import { bundle, nodes, nodeTest, runProgram } from "./testdata/run_node.ts";
import { withFolder } from "./testdata/with_folder.ts";
import { chromiumTest, copyWasm, inPage } from "./testdata/run_page.ts";
import { LOCK, packages, ROOT } from "./tools/packages.ts";

/** Entry points that load nothing of a host's, and the names of their bundles. */
async function entries(
  platform: "browser" | "deno",
): Promise<[entry: string, bundle: string][]> {
  const all = await packages();
  // Runs are folders, which pages have none of.
  const main = all.filter(({ folder }) =>
    folder !== "cli" && !(platform === "browser" && folder.startsWith("lab/"))
  ).map(({ entryPoints: [first] }) => first);
  const others = ["algorithms/training/worker/mod.ts", "envs/mujoco/wasm.ts"];
  return [...main, ...others]
    .map((it) => [it, it.replace(/\.ts$/, ".js")]);
}

/** Bundles each entry point into a file of its own, next to what it loads. */
async function bundleAll(
  folder: string,
  platform: "browser" | "deno",
): Promise<string[]> {
  const all = await entries(platform);
  const { code, err } = await runProgram(Deno.execPath(), [
    ...["bundle", LOCK, "-q", "--platform", platform, "--outdir", folder],
    ...all.map(([entry]) => entry),
  ], { cwd: ROOT });
  assertEquals(code, 0, err);
  await copyWasm(MUJOCO, `${folder}/envs/mujoco`);
  return all.map(([, bundle]) => bundle);
}

const folderOf = (name: string) => new URL(".", import.meta.resolve(name));
const TENSORS = folderOf("@tensorflow/tfjs-backend-wasm");
const MUJOCO = folderOf("npm:@mujoco/mujoco@3.14.0");

/** Imports of Node's modules; MuJoCo's own is behind a question for Node. */
const NODE_IMPORT = /\b(?:from|import)\s*\(?\s*["']node:(?!module"\))/;

chromiumTest(
  "each package is bundled for pages and loads there",
  () =>
    withFolder(async (folder) => {
      const bundles = await bundleAll(folder, "browser");
      for (const name of bundles) {
        const text = await Deno.readTextFile(`${folder}/${name}`);
        assertEquals(NODE_IMPORT.exec(text), null, name);
      }
      const { values, complaints } = await inPage(
        folder,
        ...bundles.map((name) =>
          `import("/${name}").then((it) => Object.keys(it).length)`
        ),
      );
      assertEquals(complaints, []);
      const empty = bundles.filter((_, i) => values[i] === 0);
      assertEquals(empty, ["types/mod.js", "envs/mujoco/wasm.js"]);
    }),
);

nodeTest(
  "each package is bundled for Node and loads there",
  () =>
    withFolder(async (folder) => {
      const bundles = await bundleAll(folder, "deno");
      await Deno.writeTextFile(`${folder}/package.json`, '{"type":"module"}');
      const load = bundles.map((it) => `import ${JSON.stringify(`./${it}`)};`);
      await Deno.writeTextFile(`${folder}/all.js`, load.join("\n"));
      for (const { path } of nodes) {
        const ran = await runProgram(path, [`${folder}/all.js`]);
        assertEquals(ran, { code: 0, out: "", err: "" });
      }
    }),
);

const AGENT = new URL("testdata/eager_agent.ts", import.meta.url);

chromiumTest(
  "README's agent learns in a page what it learns in Deno",
  () =>
    withFolder(async (folder) => {
      await bundle(AGENT, `${folder}/agent.js`, { platform: "browser" });
      await Deno.mkdir(`${folder}/wasm`);
      await copyWasm(TENSORS, `${folder}/wasm`);
      const { values, complaints } = await inPage(
        folder,
        `import("/agent.js").then((it) => it.learn({ wasmPaths: "wasm" }))`,
      );
      assertEquals(complaints, []);
      assertEquals(values, [await learn()]);
    }),
);

nodeTest(
  "README's agent learns in Node what it learns in Deno",
  () =>
    withFolder(async (folder) => {
      await bundle(AGENT, `${folder}/agent.mjs`);
      const options = JSON.stringify({ wasmPaths: TENSORS });
      const code =
        `import("${folder}/agent.mjs").then((it) => it.learn(${options}))
      .then((it) => console.log(JSON.stringify(it)))`;
      const expected = await learn();
      assertEquals(expected.backend, "wasm");
      for (const { path } of nodes) {
        const { out, err } = await runProgram(path, ["-e", code]);
        assertEquals(err, "");
        assertEquals(JSON.parse(out), expected);
      }
    }),
);

/** Waits for a return that no untrained agent has; the size of the picture, and the colours in it. */
const WATCH = `(async () => {
  const score = () => Number(document.querySelector("p").textContent.slice(7));
  while (!(score() > 60)) await new Promise((it) => setTimeout(it, 20));
  const { width, height } = document.querySelector("canvas");
  const context = document.querySelector("canvas").getContext("2d");
  const { data } = context.getImageData(0, 0, width, height);
  return [width, height, new Set(new Uint32Array(data.buffer)).size];
})()`;

/** Writes the page of the guide, with the runtime next to it. */
async function writePage(page: string): Promise<void> {
  const code = (language: string) =>
    guideCode("node_and_pages", "## A page with your own agent", language);
  const [address] = code("js").match(/https:.*onnxruntime-web@.*dist/)!;
  const script = code("js").replace(address, ".");
  await bundleCode(script, `${page}/page.js`, "browser");
  await Deno.writeTextFile(`${page}/index.html`, code("html"));
  const wasm = "ort-wasm-simd-threaded.wasm";
  const runtime = folderOf("npm:onnxruntime-web@1.30.0/wasm");
  await Deno.copyFile(new URL(wasm, runtime), `${page}/${wasm}`);
}

chromiumTest(
  "the guide's page plays with a run's agent",
  () =>
    withFolder(async (folder) => {
      const run = `${folder}/run`, page = `${folder}/page`;
      await trainWell([
        ...["a2c", "--env=CartPole-v1", "--quiet", "--steps=50000"],
        `--out=${run}`,
      ]);
      await writePage(page);
      await Deno.copyFile(`${run}/policy.onnx`, `${page}/policy.onnx`);
      const { values: [[width, height, colours]], complaints } = await inPage(
        page,
        WATCH,
      ) as { values: number[][]; complaints: string[] };
      assertEquals([width, height], [600, 400]);
      assert(colours > 3, `${colours}`);
      assertEquals(complaints, []);
    }),
);

/** The guide's code of a page that trains, below a line. */
const trainingCode = (below: string, language = "js") =>
  guideCode("node_and_pages", below, language);
const TRAINER = "The worker, `trainer.js`:";

/** Bundles code of the guide, which imports packages by their names. */
async function bundleCode(
  code: string,
  path: string,
  platform: "browser" | "deno",
): Promise<void> {
  // Inside of the workspace, where the packages have their names.
  const source = `${ROOT}.examples-page-${crypto.randomUUID()}.js`;
  await Deno.writeTextFile(source, code);
  await bundle(new URL(`file://${source}`), path, { platform })
    .finally(() => Deno.remove(source));
}

/** Pauses and resumes; the steps at the pause and later, the return, and the policy's bytes. */
const TRAIN_IN_PAGE = `(async () => {
  const [text, button, link] = ["p", "button", "a"]
    .map((it) => document.querySelector(it));
  const until = async (is) => {
    while (!is()) await new Promise((it) => setTimeout(it, 5));
  };
  const step = () => parseInt(text.textContent);
  await until(() => step() > 0);
  button.click();
  await until(() => button.textContent === "Resume");
  const paused = step();
  await new Promise((it) => setTimeout(it, 300));
  const later = step();
  button.click();
  await until(() => link.textContent !== "");
  const policy = await (await fetch(link.href)).arrayBuffer();
  const meanReturn = Number(text.textContent.match(/[\\d.]+$/)[0]);
  return [paused, later, step(), meanReturn, policy.byteLength];
})()`;

chromiumTest(
  "the guide's page trains in a worker, pauses and gives its policy",
  () =>
    withFolder(async (folder) => {
      const files = {
        "trainer.js": trainingCode(TRAINER),
        "page.js": trainingCode("What starts it, `page.js`:"),
      };
      for (const [name, code] of Object.entries(files)) {
        await bundleCode(code, `${folder}/${name}`, "browser");
      }
      const page = trainingCode("And its `index.html`:", "html");
      await Deno.writeTextFile(`${folder}/index.html`, page);
      await Deno.mkdir(`${folder}/wasm`);
      await copyWasm(TENSORS, `${folder}/wasm`);
      const { values: [numbers], complaints } = await inPage(
        folder,
        TRAIN_IN_PAGE,
      );
      assertEquals(complaints, []);
      const [paused, later, step, meanReturn, bytes] = numbers as number[];
      assertEquals(later, paused);
      assert(paused < 20_000, `${paused}`);
      assertEquals(step, 20_000);
      assert(meanReturn > 60, `${meanReturn}`);
      assert(bytes > 1000, `${bytes}`);
    }),
);

nodeTest(
  "the guide's worker trains in Node, and its errors are lines",
  () =>
    withFolder(async (folder) => {
      const trainer = trainingCode(TRAINER);
      await bundleCode(trainer, `${folder}/trainer.mjs`, "deno");
      const main = `import { trainInWorker } from "@bellman/training/worker";
        const train = async (file, seed) => {
          const url = new URL(file, import.meta.url);
          const training = trainInWorker(url, {
            totalTimesteps: 4000,
            settings: { seed },
          });
          try {
            const { step } = await training.result;
            return [step, (await training.policy()).length > 1000];
          } catch (error) {
            return [error.name, error.message];
          } finally {
            training.close();
          }
        };
        console.log(JSON.stringify([
          await train("trainer.mjs", 1),
          await train("trainer.mjs", -1),
          await train("none.mjs", 1),
        ]));`;
      await bundleCode(main, `${folder}/main.mjs`, "deno");
      await Deno.mkdir(`${folder}/wasm`);
      await copyWasm(TENSORS, `${folder}/wasm`);
      for (const { path } of nodes) {
        const { out, err } = await runProgram(path, [`${folder}/main.mjs`]);
        assertEquals(err, "");
        const [trained, refused, missing] = JSON.parse(out);
        assertEquals(trained, [4000, true]);
        assertEquals(refused, [
          "RangeError",
          "Cannot seed a stream with -1: expected a whole number of at least 0",
        ]);
        assertEquals(missing[0], "Error");
        assertStringIncludes(
          missing[1],
          "Cannot train in none.mjs: Cannot find module",
        );
      }
    }),
);

/** Asks for what is not everywhere, and catches what is said about it. */
const ASK = `(async ({ selectBackend, selectEngine }) => {
  const lines = [];
  const said = async (ask) => {
    try {
      lines.push((await ask()).name);
    } catch (error) {
      lines.push(error.message);
    }
  };
  await said(() => selectBackend("tensorflow"));
  await said(() => selectBackend("wasm"));
  const onNotice = (line) => lines.push(line);
  await said(() => selectBackend("auto", { onNotice }));
  await said(() => selectEngine("xla"));
  await said(() => selectEngine("onnx"));
  await said(() => selectEngine("auto", { onNotice }));
  await said(() => selectEngine("auto", { onNotice }));
  return lines;
})`;

const COMPUTE = new URL("../compute/mod.ts", import.meta.url);
const NO_TENSORFLOW = "Cannot use the tensorflow backend: it needs Deno";
const PLAIN =
  "Computing in plain JavaScript, 4 to 17 times slower than WebAssembly";
const NO_XLA = "Cannot use the engine 'xla': XLA needs Deno";
const MISSING =
  'has no tfjs-backend-wasm-simd.wasm: put the binaries of npm\'s @tensorflow/tfjs-backend-wasm there, or name their folder by selectBackend("wasm", { wasmPaths })';

chromiumTest(
  "a page says what it lacks, and takes what it has",
  () =>
    withFolder(async (folder) => {
      await bundle(COMPUTE, `${folder}/compute.js`, { platform: "browser" });
      const { values: [lines], complaints } = await inPage(
        folder,
        `import("/compute.js").then(${ASK})`,
      );
      const [tensorflow, wasm, plain, ...others] = lines as string[];
      assertEquals(tensorflow, NO_TENSORFLOW);
      const address = "Cannot use the wasm backend: http://127.0.0.1:";
      assert(wasm.startsWith(address) && wasm.endsWith(MISSING), wasm);
      assertEquals(
        plain,
        wasm.replace("Cannot use the wasm backend", PLAIN),
      );
      const noOnnx = "ONNX Runtime needs Deno or Node";
      assertEquals(others, [
        "cpu",
        NO_XLA,
        `Cannot use the engine 'onnx': ${noOnnx}`,
        `Not compiled, 10 to 30 times slower: ${noOnnx}`,
        "eager",
        "eager",
      ]);
      // The browser itself tells of the file that is not there.
      assertEquals(complaints.filter((it) => !/ 404 /.test(it)), []);
    }),
);

nodeTest(
  "Node says what it lacks, and takes what it has",
  () =>
    withFolder(async (folder) => {
      await bundle(COMPUTE, `${folder}/compute.mjs`);
      const code = `import("${folder}/compute.mjs").then(${ASK})
      .then((it) => console.log(JSON.stringify(it)))`;
      const noOnnx =
        "ONNX Runtime needs koffi and onnxruntime-node: npm install koffi onnxruntime-node";
      for (const { path } of nodes) {
        const { out, err } = await runProgram(path, ["-e", code]);
        assertEquals(err, "");
        assertEquals(JSON.parse(out), [
          NO_TENSORFLOW,
          `Cannot use the wasm backend: this bundle ${MISSING}`,
          `${PLAIN}: this bundle ${MISSING}`,
          "cpu",
          NO_XLA,
          `Cannot use the engine 'onnx': ${noOnnx}`,
          `Not compiled, 10 to 30 times slower: ${noOnnx}`,
          "eager",
          "eager",
        ]);
      }
    }),
);
