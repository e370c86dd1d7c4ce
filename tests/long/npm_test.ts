/**
 * The packages on a registry of npm's kind, published by the release's own step, in
 * folders outside of the checkout.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { dirname, join } from "node:path";
import { bytesBelow } from "../testdata/bytes_below.ts";
import { type NpmRegistry, serveNpm } from "../testdata/npm_registry.ts";
import { release } from "../testdata/release_steps.ts";
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
import { LOCK, packages, ROOT } from "../tools/packages.ts";

/** Bytes of what A2C and its example need. */
const LARGEST = 95e6;
/** Programs that run in Deno as they are, and in Node with installed packages. */
const PROGRAMS = `${ROOT}tests/testdata/installed`;

const { version: ONNXRUNTIME } = JSON.parse(
  Deno.readTextFileSync(
    new URL(import.meta.resolve("onnxruntime-node/package.json")),
  ),
);

type Dependencies = Record<string, string>;

/** What the registry tells of a package. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly license: string;
  readonly homepage: string;
  readonly repository: object;
  readonly sideEffects: readonly string[] | false;
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
let registry: NpmRegistry | undefined;
Deno.test.afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
});

/** Publishes all packages; returns what the registry tells of each, by name. */
const published = once(async () => {
  const dir = join(folder, "registry");
  await Deno.mkdir(dir);
  registry = await serveNpm(dir);
  const env = { ...registry.env, GITHUB_REPOSITORY: "owner/bellman" };
  await release("npm", env);
  const found = new Map<string, Manifest>();
  for (const { name, version } of await packages()) {
    const response = await fetch(`${registry.url}/${name}/${version}`);
    found.set(name, await response.json());
  }
  return found;
});

/** Makes an empty folder of a user who installs from the registry. */
async function userFolder(name: string): Promise<string> {
  await published();
  const path = join(folder, name);
  await Deno.mkdir(path, { recursive: true });
  await Deno.writeTextFile(`${path}/.npmrc`, `registry=${registry!.url}\n`);
  return path;
}

/** Installs all packages, and what they look up; returns the folder. */
const installed = once(async () => {
  const all = await userFolder("all");
  const names = [...(await published()).keys()];
  const others = [`onnxruntime-common@${ONNXRUNTIME}`, "esbuild@0.25.12"];
  await npmInstall(all, ...names, ...others);
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
  const ran = await runDeno([LOCK, "-A", `${PROGRAMS}/${program}.ts`, ...rest]);
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

nodeTest("a package says what it is, whose, and what it needs", async () => {
  const all = await published();
  for (const { name, folder } of await packages()) {
    const manifest = all.get(name)!;
    assertMatch(manifest.description, /^[A-Z].{20,}[^.]$/);
    assert(manifest.keywords.includes("reinforcement-learning"));
    assertEquals(manifest.license, "MIT");
    const home = "https://github.com/owner/bellman";
    assertEquals(manifest.homepage, `${home}/tree/main/${folder}#readme`);
    assertEquals(manifest.repository, {
      type: "git",
      url: `git+${home}.git`,
      directory: folder,
    });
  }
  const { engines, dependencies, peerDependencies } = all
    .get("@bellman/compute")!;
  assertEquals(engines.node, ">=22.12.0");
  assertEquals(Object.keys(peerDependencies).sort(), [
    "koffi",
    "onnxruntime-node",
  ]);
  assertMatch(dependencies["@bellman/files"], /^\d+\.\d+\.\d+$/);
});

nodeTest("a release that broke off is repeated", async () => {
  const { size } = await published();
  const out = await release("npm", registry!.env);
  assertEquals([...out.matchAll(/^Skipping/gm)].length, size);
});

nodeTest("an error names the line of the source", async () => {
  const all = await installed();
  await Deno.writeTextFile(
    join(all, "fails.mts"),
    'import { linearDecay } from "@bellman/schedulers";\nlinearDecay(0);\n',
  );
  const source = Deno.readTextFileSync(`${ROOT}schedulers/schedules.ts`);
  for (const { path } of nodes) {
    const flags = ["--enable-source-maps", "fails.mts"];
    const { err } = await runProgram(path, flags, { cwd: all });
    const [, line] = /schedules\.ts:(\d+):\d+/.exec(err) ?? [];
    assertMatch(source.split("\n")[Number(line) - 1], /throw new/, err);
  }
});

/** The line of a packed README that installs what its example imports, and the example. */
async function readmeOf(
  name: string,
): Promise<{ install: string[]; example: string }> {
  const readme = join(await installed(), `node_modules/${name}/README.md`);
  const text = await Deno.readTextFile(readme);
  const [, line] = /^npm (install .*)$/m.exec(text)!;
  const [, example] = /^```ts\n(.*?)^```/ms.exec(text)!;
  return { install: line.split(" "), example };
}

nodeTest(
  "README's one line installs A2C, without scripts, and its example runs",
  async () => {
    const { install, example } = await readmeOf("@bellman/a2c");
    const small = await userFolder("small");
    const { code, err } = await runProgram("npm", install, { cwd: small });
    assertEquals(code, 0, err);
    const lock = join(small, "node_modules/.package-lock.json");
    assert(!Deno.readTextFileSync(lock).includes("hasInstallScript"));
    const size = bytesBelow(join(small, "node_modules"));
    // deno-lint-ignore no-console -- what a user pays
    console.log(`${install.join(" ")}: ${(size / 1e6).toFixed(1)} MB`);
    assert(size <= LARGEST, `${size / 1e6} MB`);
    await Deno.writeTextFile(join(small, "example.mts"), example);
    for (const { path } of nodes) {
      const { code, err } = await runProgram(path, ["example.mts"], {
        cwd: small,
      });
      assertEquals(code, 0, err);
      assertMatch(err, /npm install .*koffi onnxruntime-node/);
    }
  },
);

nodeTest(
  "the examples of READMEs run in Node, but those that use Deno",
  async () => {
    const all = await installed(), ran: string[] = [];
    for (const { name } of await packages()) {
      const { example } = await readmeOf(name);
      if (/\bDeno\.|@std\/assert/.test(example)) continue;
      await Deno.writeTextFile(join(all, "example.mts"), example);
      for (const { path } of nodes) {
        const { code, err } = await inNode(path, "example");
        assertEquals(code, 0, `${name}: ${err}`);
      }
      ran.push(name);
    }
    assert(ran.length > 12, ran.join(" "));
  },
);

nodeTest("npx runs the command line", async () => {
  const user = await userFolder("command");
  const main = `${ROOT}cli/mod.ts`;
  for (const { version, path } of nodes) {
    // The program takes the Node that comes first.
    const PATH = `${dirname(path)}:${Deno.env.get("PATH")}`;
    const npx = (...args: string[]) =>
      runProgram("npx", ["-y", "@bellman/cli", ...args], {
        cwd: user,
        // What is kept of another release has the same version.
        env: { PATH, NO_COLOR: "1", NPM_CONFIG_CACHE: join(user, "cache") },
      });
    const bellman = async (...args: string[]) => {
      const { code, out, err } = await npx(...args);
      assertEquals(code, 0, err);
      return { out, err };
    };
    const { out: list } = await runDeno(["-A", main, "list"]);
    assertEquals((await bellman("list")).out, list);
    assertMatch(
      (await bellman("train", "--help")).out,
      /^Usage: bellman train/m,
    );
    const run = `runs/${version}`;
    const flags = ["--steps", "2000", "--quiet", "--out", run];
    const { out, err } = await bellman("train", ...flags);
    assertMatch(err, /koffi onnxruntime-node/);
    assertMatch(out, /^completed: 2000 steps/m);
    assertMatch((await bellman("eval", run)).out, /over 20 episodes/);
    const { command, versions } = JSON.parse(
      await Deno.readTextFile(`${user}/${run}/run.json`),
    );
    assertMatch(command, /^npx @bellman\/cli train --steps 2000/);
    assertEquals(versions.node.split(".")[0], version);
    // The run goes on in Deno.
    const more = ["--resume", run, "--steps", "3000"];
    const resumed = await runDeno(["-A", main, "train", ...more], {
      cwd: user,
    });
    assertEquals(resumed.code, 0, resumed.err);
    const refused = await npx("train", "--seeds", "2", "--out", "seeds");
    assertEquals(
      [refused.code, refused.err],
      [1, "error: Cannot run experiments: it needs Deno\n"],
    );
  }
});

/** Stands for JSR's package of assertions. */
const STD_ASSERT = {
  "package.json": '{ "type": "module", "exports": "./mod.js" }',
  "mod.js":
    'export { deepStrictEqual as assertEquals, ok as assert } from "node:assert";',
};

nodeTest("the guide's environments run in Node as they stand", async () => {
  const guide = await Deno.readTextFile(
    `${ROOT}docs/guides/own_environment.md`,
  );
  const all = await installed();
  const assertions = join(all, "node_modules/@std/assert");
  await Deno.mkdir(assertions, { recursive: true });
  for (const [name, text] of Object.entries(STD_ASSERT)) {
    await Deno.writeTextFile(join(assertions, name), text);
  }
  let count = 0;
  for (const [, code] of guide.matchAll(/^```ts\n(.*?)^```/gms)) {
    const name = `guide_${++count}`;
    await Deno.writeTextFile(join(all, `${name}.mts`), code);
    for (const { path } of nodes) {
      assertEquals(
        await inNode(path, name),
        { code: 0, out: "", err: "" },
        name,
      );
    }
  }
  assert(count > 5);
});

nodeTest("each entry exports in Node what it exports in Deno", async () => {
  const entries = [...(await published()).values()]
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

/** Packages that bundles of Node leave out: they look for files beside their own. */
const LEFT_OUT = ["@tensorflow/*", "koffi", "onnxruntime-node"];

/** Bundles a program for Node, and returns the size. */
async function bundled(
  program: string,
  ...flags: readonly string[]
): Promise<number> {
  const all = await installed();
  const esbuild = join(all, "node_modules/.bin/esbuild");
  const { code, err } = await runProgram(esbuild, [
    ...[
      `${program}.mts`,
      "--bundle",
      "--format=esm",
      "--platform=node",
      `--outfile=${BUNDLE}`,
    ],
    ...LEFT_OUT.map((it) => `--external:${it}`),
    ...flags,
  ], { cwd: all });
  assertEquals(code, 0, err);
  assert(!err.includes("WARNING"), err);
  return Deno.statSync(join(all, BUNDLE)).size;
}

const BUNDLE = "bundle.mjs";

nodeTest("bundles of what is used do what the packages do", async () => {
  const all = await installed();
  for (const [program, ...args] of [["learn", "eager"], ["registered"]]) {
    const expected = await inDeno(program, ...args);
    const whole = await bundled(program, "--ignore-annotations");
    const size = await bundled(program);
    assert(size < whole, `${size} of ${whole} bytes`);
    for (const { path } of nodes) {
      const ran = await runProgram(path, [BUNDLE, ...args], { cwd: all });
      assertEquals(ran, expected);
    }
  }
});

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
  const kept = await userFolder("kept/deno");
  const written = await inDeno("checkpoints", "write", kept);
  const read = await inDeno("checkpoints", "read", kept);
  const [actions] = written.out.match(/^actions: .*\n/m)!;
  assertMatch(actions, /0.*1|1.*0/);
  for (const { version, path } of nodes) {
    const own = await userFolder(`kept/${version}`);
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
  const folder = await userFolder("tests");
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
