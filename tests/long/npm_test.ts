/** The packages for npm, installed in folders outside of the checkout. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { type Ran, runDeno } from "../testdata/run_deno.ts";
import {
  bundle,
  installOnnxRuntime,
  linkPackage,
  nodes,
  nodeTest,
  npmInstall,
  runProgram,
} from "../testdata/run_node.ts";
import { packages, ROOT } from "../tools/packages.ts";

/** Bytes of what A2C and its example need. */
const LARGEST = 90e6;
/** Programs that run in Deno as they are, and in Node with installed packages. */
const PROGRAMS = `${ROOT}tests/testdata/installed`;

/** README's example, which a stand-in for JSR's package of assertions runs with. */
const EXAMPLE = Deno.readTextFileSync(`${ROOT}algorithms/a2c/README.md`)
  .match(/^```ts\n(.*?)^```/ms)![1];
const STD_ASSERT = {
  "package.json": '{ "type": "module", "exports": "./mod.js" }',
  "mod.js": 'export { ok as assert } from "node:assert";',
};

const { version: ONNXRUNTIME } = JSON.parse(
  Deno.readTextFileSync(
    new URL(import.meta.resolve("onnxruntime-node/package.json")),
  ),
);

type Dependencies = Record<string, string>;

/** A package that is written into a tarball. */
interface Packed {
  readonly path: string;
  readonly name: string;
  readonly exports: Record<string, unknown>;
  readonly dependencies: Dependencies;
  readonly peerDependencies: Dependencies;
  readonly engines: Dependencies;
}

/** Returns what a function made when it was called first. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}

const folder = await Deno.makeTempDir({ prefix: "bellman-npm-" });
Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));

/** Makes a folder for a test. */
async function subfolder(name: string): Promise<string> {
  const path = join(folder, name);
  await Deno.mkdir(path, { recursive: true });
  return path;
}

/** Packs all packages but the command line; returns them by their names. */
const packed = once(async () => {
  const out = await subfolder("packed");
  const { code, err } = await runDeno(
    ["pack", "--out", out],
    { command: "task", cwd: ROOT },
  );
  assertEquals(code, 0, err);
  const found = new Map<string, Packed>();
  for (const { name } of Deno.readDirSync(out)) {
    const path = join(out, name);
    const args = ["-xzOf", path, "package/package.json"];
    const { out: text } = await runProgram("tar", args);
    const manifest = JSON.parse(text);
    found.set(manifest.name, { path, ...manifest });
  }
  assertEquals(found.size, (await packages()).length - 1);
  return found;
});

/** Installs all packages, and what they look up; returns the folder. */
const installed = once(async () => {
  const all = await subfolder("all");
  const paths = [...(await packed()).values()].map(({ path }) => path);
  await npmInstall(all, ...paths, `onnxruntime-common@${ONNXRUNTIME}`);
  await installOnnxRuntime(all);
  await linkPackage(all, "@mujoco/mujoco", "npm:@mujoco/mujoco@3.14.0");
  for (const { name } of Deno.readDirSync(PROGRAMS)) {
    const to = join(all, name.replace(".ts", ".mts"));
    await Deno.copyFile(join(PROGRAMS, name), to);
  }
  return all;
});

/** Runs a program in a Node. */
async function inNode(path: string, ...args: string[]): Promise<Ran> {
  const [program, ...rest] = args;
  const cwd = await installed();
  // Deno's copy of onnxruntime-node finds onnxruntime-common there.
  const env = { NODE_PATH: join(cwd, "node_modules") };
  return await runProgram(path, [`${program}.mts`, ...rest], { cwd, env });
}

/** Runs a program in Deno. */
async function inDeno(...args: string[]): Promise<Ran> {
  const [program, ...rest] = args;
  const ran = await runDeno(["-A", `${PROGRAMS}/${program}.ts`, ...rest]);
  assertEquals([ran.code, ran.err], [0, ""]);
  return ran;
}

/** Runs a program in each Node, where it prints what it prints in Deno. */
async function assertAlike(...args: string[]): Promise<void> {
  const expected = await inDeno(...args);
  for (const { path } of nodes) {
    assertEquals(await inNode(path, ...args), expected);
  }
}

/** The tarballs that some packages need, their own first. */
async function neededBy(names: readonly string[]): Promise<string[]> {
  const all = await packed();
  const found = new Set(names);
  for (const name of found) {
    const { dependencies } = all.get(name)!;
    for (const it of Object.keys(dependencies)) {
      if (all.has(it)) found.add(it);
    }
  }
  return Array.from(found, (name) => all.get(name)!.path);
}

function bytesBelow(folder: string): number {
  return [...Deno.readDirSync(folder)].reduce((sum, { name, isDirectory }) => {
    const path = join(folder, name);
    return sum + (isDirectory ? bytesBelow(path) : Deno.lstatSync(path).size);
  }, 0);
}

nodeTest("a package names its dependencies and its peers", async () => {
  const { engines, dependencies, peerDependencies } = (await packed())
    .get("@bellman/compute")!;
  assertMatch(engines.node, /^\^22.*\^24/);
  assertEquals(Object.keys(peerDependencies).sort(), [
    "@tensorflow/tfjs-node-gpu",
    "koffi",
    "onnxruntime-node",
  ]);
  assertMatch(dependencies["@bellman/files"], /^\d+\.\d+\.\d+$/);
});

nodeTest("what A2C's example needs is small and runs no script", async () => {
  const small = await subfolder("small");
  const imports = EXAMPLE.matchAll(/"(@bellman\/[a-z0-9-]+)"/g);
  await npmInstall(small, ...await neededBy([...imports].map((it) => it[1])));
  const lock = join(small, "node_modules/.package-lock.json");
  assert(!Deno.readTextFileSync(lock).includes("hasInstallScript"));
  const size = bytesBelow(join(small, "node_modules"));
  assert(size <= LARGEST, `${size / 1e6} MB`);
  const assertions = await subfolder("small/node_modules/@std/assert");
  for (const [name, text] of Object.entries(STD_ASSERT)) {
    await Deno.writeTextFile(join(assertions, name), text);
  }
  await Deno.writeTextFile(join(small, "example.mts"), EXAMPLE);
  for (const { path } of nodes) {
    const { code, err } = await runProgram(path, ["example.mts"], {
      cwd: small,
    });
    assertEquals(code, 0, err);
    assertMatch(err, /npm install koffi onnxruntime-node/);
  }
});

nodeTest("each entry exports in Node what it exports in Deno", async () => {
  const entries = [...(await packed()).values()]
    .flatMap(({ name, exports }) =>
      Object.keys(exports).map((key) => name + key.slice(1))
    );
  assert(entries.includes("@bellman/envs/mujoco/wasm"));
  await assertAlike("list_exports", ...entries);
});

nodeTest(
  "algorithms learn in Node what they learn in Deno",
  () => assertAlike("learn", "eager", "onnx"),
);

nodeTest(
  "workers host environments and learn in Node as in Deno",
  () => assertAlike("work"),
);

nodeTest("what needs Deno says so in Node", async () => {
  for (const { path } of nodes) {
    const { code, out, err } = await inNode(path, "need_deno");
    assertEquals([code, err], [0, ""]);
    assertEquals(out.trim().split("\n"), [
      "Error: Cannot open XLA: it needs Deno",
      "Error: Cannot host environments in processes: it needs Deno",
      "Error: Cannot make gym:CartPole-v1: it needs Deno",
      "Error: Cannot play pong in the Arcade Learning Environment: it needs Deno",
      "Error: Cannot make Hopper with the MuJoCo library: it needs Deno",
      "Error: Cannot make Hopper as MuJoCo's WebAssembly is not loaded: import '@bellman/envs/mujoco/wasm' first",
      "false,false",
      "Cannot install XLA: it needs Deno",
      "2",
    ]);
  }
});

nodeTest("checkpoints go from Deno to Node and back", async () => {
  const kept = await subfolder("kept/deno");
  const written = await inDeno("checkpoints", "write", kept);
  const read = await inDeno("checkpoints", "read", kept);
  const [actions] = written.out.match(/^actions: .*\n/m)!;
  assertMatch(actions, /0.*1|1.*0/);
  for (const { version, path } of nodes) {
    const own = await subfolder(`kept/${version}`);
    assertEquals(await inNode(path, "checkpoints", "write", own), written);
    assertEquals(await inNode(path, "checkpoints", "read", kept), read);
    assertEquals(await inDeno("checkpoints", "read", own), read);
    for (const from of [kept, own]) {
      assertEquals(
        await inNode(path, "act_exported", `${from}/policy.onnx`),
        { code: 0, out: actions, err: "" },
      );
    }
  }
});

/** Tests of these files start other Denos. */
const IN_DENO = ["crash_test.ts", "buffer_file_test.ts"];

/** Runs bundled tests, but one about a file of the checkout. */
const RUN_TESTS = `
import { testDefinitions } from "@deno/shim-deno/test-internals";
await import("./tests.mjs");
for (const { name, ignore, fn } of testDefinitions) {
  if (ignore || name === "the kernel's bytes are those of its text") continue;
  await (async () => fn())().catch((error) => console.log(name, error));
}
console.log(testDefinitions.length);`;

/** Paths of the tests in a folder of the checkout. */
function testsBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    if (isDirectory) return testsBelow(path);
    return name.endsWith("_test.ts") && !IN_DENO.includes(name) ? [path] : [];
  });
}

nodeTest("buffers' and schedules' own tests pass in Node", async () => {
  const folder = await subfolder("tests");
  await npmInstall(folder, "@deno/shim-deno@0.19.2");
  const entry = new URL(`file://${folder}/all.ts`);
  const paths = ["buffers", "schedulers"].flatMap((it) =>
    testsBelow(ROOT + it)
  );
  const imports = paths.map((path) => `import ${JSON.stringify(path)};`);
  await Deno.writeTextFile(entry, imports.join("\n"));
  const path = `${folder}/tests.mjs`;
  await bundle(entry, path);
  // Only tests see it: the packages find out that this is no Deno.
  const shim = 'import { Deno } from "@deno/shim-deno";\n';
  await Deno.writeTextFile(path, shim + await Deno.readTextFile(path));
  await Deno.writeTextFile(`${folder}/run.mjs`, RUN_TESTS);
  for (const { path } of nodes) {
    const ran = await runProgram(path, ["run.mjs"], { cwd: folder });
    assertMatch(ran.out, /^\d{3}\n$/);
    assertEquals([ran.code, ran.err], [0, ""]);
  }
});
