/** The packages' types in TypeScript's own compilers, as npm installs them. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { runDeno } from "../testdata/run_deno.ts";
import {
  nodes,
  nodeTest,
  npmInstall,
  runProgram,
} from "../testdata/run_node.ts";
import { ROOT } from "../tools/packages.ts";

/** Versions of the compiler; the last one has no interface for programs. */
const VERSIONS = ["5.9", "6", "7"];
const TYPES = `${ROOT}tests/types`;

const folder = await Deno.makeTempDir({ prefix: "bellman-types-" });
Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));

let installing: Promise<void> | undefined;

/** Installs all packages and compilers, and writes the programs to be compiled. */
function installed(): Promise<void> {
  return installing ??= install();
}

async function install(): Promise<void> {
  const out = join(folder, "packed");
  const { code, err } = await runDeno(
    ["pack", "--out", out],
    { command: "task", cwd: ROOT },
  );
  assertEquals(code, 0, err);
  const paths = [...Deno.readDirSync(out)].map(({ name }) => join(out, name));
  const compilers = VERSIONS
    .map((it) => `${compilerOf(it)}@npm:typescript@${it}`);
  await npmInstall(folder, ...paths, ...compilers);
  for (const { name } of Deno.readDirSync(TYPES)) {
    await Deno.copyFile(join(TYPES, name), join(folder, name));
  }
  const own = join(folder, "node_modules/@bellman");
  const entries = [...Deno.readDirSync(own)].flatMap(({ name }) => {
    const manifest = Deno.readTextFileSync(join(own, name, "package.json"));
    return Object.keys(JSON.parse(manifest).exports)
      .filter((key) => !key.endsWith(".json"))
      .map((key) => `@bellman/${name}${key.slice(1)}`);
  });
  assert(entries.includes("@bellman/envs/mujoco/wasm"));
  await Deno.writeTextFile(
    join(folder, "entries.ts"),
    entries.map((it, i) => `export * as e${i} from "${it}";`).join("\n"),
  );
}

/** Folder of a compiler. */
function compilerOf(version: string): string {
  return `typescript-${version}`;
}

/** Runs Node in the folder of the packages. */
function inNode(...args: string[]) {
  return runProgram(nodes[0].path, args, { cwd: folder });
}

/** Checks the types of the programs, with and without those of pages. */
async function assertCompiles(
  version: string,
  moduleResolution: string,
): Promise<void> {
  await installed();
  for (const lib of [["es2023"], ["es2023", "dom"]]) {
    const compilerOptions = {
      allowImportingTsExtensions: true,
      lib,
      module: moduleResolution === "bundler" ? "preserve" : "nodenext",
      moduleResolution,
      noEmit: true,
      skipLibCheck: false,
      strict: true,
      target: "es2023",
      types: [],
    };
    const config = { compilerOptions, include: ["*.ts"] };
    await Deno.writeTextFile(
      join(folder, "tsconfig.json"),
      JSON.stringify(config),
    );
    const tsc = `node_modules/${compilerOf(version)}/bin/tsc`;
    assertEquals(await inNode(tsc, "-p", "."), { code: 0, out: "", err: "" });
  }
}

for (const version of VERSIONS) {
  for (const resolution of ["nodenext", "bundler"]) {
    nodeTest(
      `TypeScript ${version} infers types, with ${resolution}`,
      () => assertCompiles(version, resolution),
    );
  }
}

/** A program that is being written. */
const BEGUN = `import { A2C } from "@bellman/a2c";
import { make, makeVec } from "@bellman/envs";
import "./environments.ts";
make("/*here*/");
const env = makeVec("/*here*/", { numEnvs: 1 });
new A2C(env, { config: { /*here*/ } });
new A2C(env, { config: { valueNetwork: "/*here*/" } });
`;

nodeTest("editors offer ids, and settings with their words", async () => {
  await installed();
  const path = join(folder, "begun/begun.ts");
  await Deno.mkdir(join(folder, "begun"));
  await Deno.writeTextFile(path, BEGUN.replace('"./', '"../'));
  const program = `${ROOT}tests/testdata/complete.mjs`;
  const copy = join(folder, "complete.mjs");
  await Deno.copyFile(program, copy);
  for (const version of VERSIONS.slice(0, -1)) {
    const { out, err } = await inNode(copy, compilerOf(version), path);
    assertEquals(err, "");
    const offered: string[][] = out.trim().split("\n").map((it) =>
      JSON.parse(it)
    );
    const ids = ["CartPole-v1", "Hopper-v5", "ALE/Pong-v5", "TypedRoom-v0"];
    for (const id of ids) {
      assert(offered[0].includes(id) && offered[1].includes(id), id);
    }
    assert(offered[2].includes("learningRate") && offered[2].length < 40);
    assertEquals(offered[3], ["shared", "separate"]);
  }
});
