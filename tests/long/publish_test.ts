/**
 * The packages on a registry of JSR's kind, published by the release's own step, and each
 * as a new user meets it: added alone, in an empty folder with an empty cache.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { join } from "node:path";
import { bytesBelow } from "../testdata/bytes_below.ts";
import { type JsrRegistry, serveJsr } from "../testdata/jsr_registry.ts";
import { type NpmRegistry, serveNpm } from "../testdata/npm_registry.ts";
import { release, releaseCommands } from "../testdata/release_steps.ts";
import { nodeTest, runProgram } from "../testdata/run_node.ts";
import type { Ran } from "../testdata/run_deno.ts";
import { type Package, packages, ROOT } from "../tools/packages.ts";

/**
 * Megabytes that a package may leave on disk where it is added, with all its entries.
 * Deno's own caches, some megabytes, are among them.
 */
const ADDED: Readonly<Record<string, number>> = {
  "@bellman/bandits": 4,
  "@bellman/buffers": 4,
  "@bellman/client": 2,
  "@bellman/envs": 70,
  "@bellman/files": 13,
  "@bellman/linear-algebra": 2,
  "@bellman/random": 3,
  "@bellman/returns": 2,
  "@bellman/schedulers": 2,
  "@bellman/statistics": 4,
  "@bellman/training": 13,
  "@bellman/types": 2,
};
/** The same of others: they bring ONNX Runtime and TensorFlow.js. */
const ADDED_WITH_ENGINES = 310;
/** And with what its example imports, after it has run. */
const WITH_EXAMPLE = 340;
/** Megabytes of those that are small where only their main entry is imported. */
const IMPORTED: Readonly<Record<string, number>> = {
  "@bellman/buffers": 7,
  "@bellman/envs": 8,
  "@bellman/schedulers": 4,
  "@bellman/statistics": 6,
};

/** What README tells users to write into `deno.json`: scripts that nobody needs. */
const [ALLOW_SCRIPTS] = /"allowScripts": \{.+?\}/
  .exec(Deno.readTextFileSync(`${ROOT}README.md`))!;

const TOKEN = "owner";
const folder = await Deno.makeTempDir({ prefix: "bellman-publish-" });

interface Registries {
  readonly jsr: JsrRegistry;
  readonly npm: NpmRegistry;
}

/** Runs Deno in a user's folder, with a cache of the user's own. */
type AsUser = (...args: string[]) => Promise<Ran>;

let started: Promise<Registries> | undefined;

async function start(): Promise<Registries> {
  const [modules, archives] = [join(folder, "jsr"), join(folder, "npm")];
  await Deno.mkdir(modules);
  await Deno.mkdir(archives);
  const jsr = serveJsr(modules, { token: TOKEN });
  for (const name of ["assert", "cli", "yaml"]) await publishStandIn(jsr, name);
  const npm = await serveNpm(archives);
  return { jsr, npm };
}

/** Starts both registries, once. */
function registries(): Promise<Registries> {
  return started ??= start();
}

Deno.test.afterAll(async () => {
  const { jsr, npm } = await started ?? {};
  await jsr?.[Symbol.asyncDispose]();
  await npm?.[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
});

/** Publishes what stands in for a package of `@std` in a checkout. */
async function publishStandIn(jsr: JsrRegistry, name: string): Promise<void> {
  jsr.create(`@std/${name}`);
  const from = `${ROOT}tests/links/std/${name}`, to = join(folder, name);
  await runProgram("cp", ["-r", from, to]);
  await Deno.copyFile(`${ROOT}LICENSE`, join(to, "LICENSE"));
  const flags = ["--allow-dirty", "--allow-slow-types", "--no-check"];
  const { code, err } = await runProgram(
    Deno.execPath(),
    ["publish", ...flags, "--token", TOKEN],
    { cwd: to, env: { JSR_URL: jsr.url } },
  );
  assertEquals(code, 0, err);
}

/** Publishes all packages by the release's step. */
async function publish(): Promise<string> {
  const { jsr } = await registries();
  return await release("jsr", {
    JSR_URL: jsr.url,
    JSR_TOKEN: TOKEN,
    GITHUB_REPOSITORY: "owner/bellman",
  });
}

let first: Promise<string> | undefined;

/** Publishes all packages, once. */
function published(): Promise<string> {
  return first ??= publish();
}

/** Gives a user an empty folder with an empty cache. */
async function withUser(
  use: (asUser: AsUser, paths: { dir: string; cache: string }) => Promise<void>,
): Promise<void> {
  const { jsr, npm } = await registries();
  const home = await Deno.makeTempDir({ dir: folder });
  const paths = { dir: join(home, "project"), cache: join(home, "cache") };
  await Deno.mkdir(paths.dir);
  const env = {
    DENO_DIR: paths.cache,
    JSR_URL: jsr.url,
    NPM_CONFIG_REGISTRY: npm.url,
    NO_COLOR: "1",
  };
  const asUser: AsUser = (...args) =>
    runProgram(Deno.execPath(), args, { cwd: paths.dir, env });
  try {
    await use(asUser, paths);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/** A README, or what it has of some form. */
function readmeOf(folder: string, form: RegExp): string {
  return form.exec(Deno.readTextFileSync(`${ROOT}${folder}/README.md`))![1];
}

/** Packages that Deno's warning says it ran no scripts of, without versions. */
function ignoredScripts({ err }: Ran): string[] {
  return [...err.matchAll(/^│ {2}(npm:.+)@[\d.]+$/gm)].map(([, name]) => name);
}

function assertMost(bytes: number, most: number): void {
  assert(bytes <= most * 1e6, `${bytes / 1e6} MB, expected at most ${most}`);
}

async function assertOk(ran: Promise<Ran>): Promise<Ran> {
  const { code, err, out } = await ran;
  assertEquals(code, 0, err + out);
  return { code, err, out };
}

nodeTest("the release's step publishes each package once", async () => {
  const { jsr } = await registries();
  await published();
  const all = await packages();
  const expected = all.map(({ name, version }) => `${name}@${version}`);
  const own = [...jsr.published.keys()].filter((it) => !it.startsWith("@std/"));
  assertEquals(own.sort(), expected.sort());
  for (const { name } of all) {
    const [description, repository] = jsr.changes.get(name)!;
    assertMatch(JSON.stringify(description), /^\{"description":".{20,250}"\}$/);
    assertEquals(repository, {
      githubRepository: { owner: "owner", name: "bellman" },
    });
  }
  // One that broke off is repeated.
  await publish();
  assertEquals(jsr.published.size, expected.length + 3);
});

/** Adds a package alone, and counts what that takes. */
async function addAlone(
  { name }: Package,
  asUser: AsUser,
  cache: string,
): Promise<{ downloaded: number; onDisk: number }> {
  const { jsr, npm } = await registries();
  const sent = () => jsr.sentBytes() + npm.sentBytes();
  const before = sent();
  const added = await assertOk(asUser("add", `jsr:${name}`));
  for (const it of ignoredScripts(added)) {
    assertStringIncludes(ALLOW_SCRIPTS, it);
  }
  return { downloaded: sent() - before, onDisk: bytesBelow(cache) };
}

/** Runs the example of a package's README. */
async function runExample(
  { folder }: Package,
  asUser: AsUser,
  dir: string,
): Promise<void> {
  const example = readmeOf(folder, /^```ts\n(.*?)^```/ms);
  await Deno.writeTextFile(join(dir, "main.ts"), example);
  const install = readmeOf(folder, /^deno (add .*)$/m).split(" ");
  // Examples assert what they show, and play with agents of a checkout.
  await Deno.symlink(`${ROOT}zoo`, join(dir, "zoo"));
  await assertOk(asUser(...install, "jsr:@std/assert"));
  await assertOk(asUser("run", "-A", "main.ts"));
}

/** Checks types of the example and of all entries of a package, and reads their documentation. */
async function readPackage(
  { imports }: Package,
  asUser: AsUser,
  dir: string,
): Promise<void> {
  const entries = imports.map((it, i) => `import * as m${i} from "${it}";`);
  const used = imports.map((_, i) => `m${i}`).join(", ");
  const code = `${entries.join("\n")}\nconsole.log(${used});\n`;
  await Deno.writeTextFile(join(dir, "entries.ts"), code);
  await assertOk(asUser("check", "main.ts", "entries.ts"));
  for (const it of imports) {
    const { out } = await assertOk(asUser("doc", `jsr:${it}`));
    assert(out.length > 100, it);
  }
}

/** Megabytes of bytes, as a column. */
function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1).padStart(7);
}

/** Prints a row of the table of what users pay, where it is run without -q. */
function printRow(name: string, what: string, bytes: readonly number[]): void {
  // deno-lint-ignore no-console -- a table for people
  console.log(`${name.padEnd(24)} ${bytes.map(megabytes).join("")} MB ${what}`);
}

for (const it of await packages()) {
  nodeTest(`${it.name} is added alone, and its example runs`, async () => {
    await published();
    await withUser(async (asUser, { dir, cache }) => {
      const { downloaded, onDisk } = await addAlone(it, asUser, cache);
      await runExample(it, asUser, dir);
      const all = bytesBelow(cache);
      const what = "downloaded, on disk, with its example";
      printRow(it.name, what, [downloaded, onDisk, all]);
      assertMost(onDisk, ADDED[it.name] ?? ADDED_WITH_ENGINES);
      assertMost(all, WITH_EXAMPLE);
      await readPackage(it, asUser, dir);
    });
  });
}

for (const [name, most] of Object.entries(IMPORTED)) {
  nodeTest(`${name} is small where it is imported`, async () => {
    await published();
    await withUser(async (asUser, { dir, cache }) => {
      await Deno.writeTextFile(join(dir, "main.ts"), `import "jsr:${name}";\n`);
      await assertOk(asUser("run", "main.ts"));
      printRow(name, "on disk where it is imported", [bytesBelow(cache)]);
      assertMost(bytesBelow(cache), most);
    });
  });
}

nodeTest("types are inferred, also of a user's environments", async () => {
  await published();
  await withUser(async (asUser, { dir }) => {
    const types = `${ROOT}tests/types`, names = new Set<string>();
    for (const { name } of Deno.readDirSync(types)) {
      const text = await Deno.readTextFile(join(types, name));
      const imports = text.matchAll(/from "(@bellman\/[a-z0-9-]+)/g);
      for (const [, it] of imports) names.add(it);
      await Deno.writeTextFile(join(dir, name), text);
    }
    assert(names.has("@bellman/envs"));
    await assertOk(asUser("add", ...[...names].map((it) => `jsr:${it}`)));
    await assertOk(asUser("check", "."));
  });
});

nodeTest("the command line runs by the package's name", async () => {
  await published();
  await withUser(async (asUser, { dir }) => {
    const line = readmeOf("cli", /^deno (run .*)$/m).split(" ");
    const ran = await assertOk(asUser(...line, "--steps", "2000", "--out=run"));
    assertMatch(ran.out, /^completed: 2000 steps/m);
    const { command, engine } = JSON.parse(
      await Deno.readTextFile(join(dir, "run/run.json")),
    );
    assertMatch(command, /^deno run -A jsr:@bellman\/cli train --env/);
    assertMatch(engine, /^compiled, by ONNX Runtime/);
  });
});

nodeTest("README's line spares the box about scripts", async () => {
  await published();
  await withUser(async (asUser, { dir }) => {
    const asked = await assertOk(asUser("add", "jsr:@bellman/a2c"));
    assertEquals(ignoredScripts(asked), ["npm:onnxruntime-node"]);
    const config = join(dir, "deno.json");
    const { imports } = JSON.parse(await Deno.readTextFile(config));
    const text = `{ ${ALLOW_SCRIPTS}, "imports": ${JSON.stringify(imports)} }`;
    await Deno.writeTextFile(config, text);
    const spared = await assertOk(asUser("add", "jsr:@bellman/sac"));
    assertEquals(ignoredScripts(spared), []);
    assert(!spared.err.includes("Warning"), spared.err);
  });
});

Deno.test("the workflow checks, then publishes to both registries", () => {
  assertEquals(releaseCommands(), [
    "bash .ci/run",
    "deno task release jsr",
    "deno task release npm",
  ]);
});
