/** The packages for npm, installed in folders outside of the checkout. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { runDeno } from "../testdata/run_deno.ts";
import {
  installOnnxRuntime,
  nodes,
  nodeTest,
  npmInstall,
  runProgram,
} from "../testdata/run_node.ts";
import { withFolder } from "../testdata/with_folder.ts";
import { ROOT } from "../tools/packages.ts";

/** Bytes of what A2C and its example need. */
const LARGEST = 90e6;
const LEARN = `${ROOT}tests/testdata/learn_few_steps.ts`;

/** README's example, which a stand-in for JSR's package of assertions runs with. */
const EXAMPLE = Deno.readTextFileSync(`${ROOT}algorithms/a2c/README.md`)
  .match(/^```ts\n(.*?)^```/ms)![1];
const STD_ASSERT = {
  "package.json": '{ "type": "module", "exports": "./mod.js" }',
  "mod.js": 'export { ok as assert } from "node:assert";',
};

type Dependencies = Record<string, string>;

/** A package that is written into a tarball. */
interface Packed {
  readonly path: string;
  readonly name: string;
  readonly dependencies: Dependencies;
  readonly peerDependencies: Dependencies;
  readonly engines: Dependencies;
}

/** Packs all packages; returns them by their names. */
async function packInto(folder: string): Promise<Map<string, Packed>> {
  const { code, err } = await runDeno(
    ["pack", "--out", folder],
    { command: "task", cwd: ROOT },
  );
  assertEquals(code, 0, err);
  const packed = new Map<string, Packed>();
  for (const { name } of Deno.readDirSync(folder)) {
    const path = join(folder, name);
    const args = ["-xzOf", path, "package/package.json"];
    const { out } = await runProgram("tar", args);
    const manifest = JSON.parse(out);
    packed.set(manifest.name, { path, ...manifest });
  }
  return packed;
}

/** The tarballs that some packages need, their own first. */
function neededBy(
  names: readonly string[],
  packed: ReadonlyMap<string, Packed>,
): string[] {
  const found = new Set(names);
  for (const name of found) {
    const { dependencies } = packed.get(name)!;
    for (const it of Object.keys(dependencies)) {
      if (packed.has(it)) found.add(it);
    }
  }
  return Array.from(found, (name) => packed.get(name)!.path);
}

/** Names of the packages that a program imports. */
function importedBy(program: string): string[] {
  return Array.from(
    program.matchAll(/"(@bellman\/[a-z0-9-]+)"/g),
    (it) => it[1],
  );
}

function bytesBelow(folder: string): number {
  return [...Deno.readDirSync(folder)].reduce((sum, { name, isDirectory }) => {
    const path = join(folder, name);
    return sum + (isDirectory ? bytesBelow(path) : Deno.lstatSync(path).size);
  }, 0);
}

nodeTest(
  "packed for npm, the packages are small and learn in Node as in Deno",
  () =>
    withFolder(async (folder) => {
      const packed = await packInto(join(folder, "packed"));
      const { engines, dependencies, peerDependencies } = packed
        .get("@bellman/compute")!;
      assertMatch(engines.node, /^\^22.*\^24/);
      assertEquals(Object.keys(peerDependencies).sort(), [
        "@tensorflow/tfjs-node-gpu",
        "koffi",
        "onnxruntime-node",
      ]);
      assertMatch(dependencies["@bellman/files"], /^\d+\.\d+\.\d+$/);

      const small = join(folder, "small");
      await Deno.mkdir(small);
      await npmInstall(small, ...neededBy(importedBy(EXAMPLE), packed));
      const lock = join(small, "node_modules/.package-lock.json");
      assert(!Deno.readTextFileSync(lock).includes("hasInstallScript"));
      const size = bytesBelow(join(small, "node_modules"));
      assert(size <= LARGEST, `${size / 1e6} MB`);
      const assertions = join(small, "node_modules/@std/assert");
      await Deno.mkdir(assertions, { recursive: true });
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

      const all = join(folder, "all");
      await Deno.mkdir(all);
      const program = await Deno.readTextFile(LEARN);
      await npmInstall(all, ...neededBy(importedBy(program), packed));
      await installOnnxRuntime(all);
      await Deno.writeTextFile(join(all, "learn.mts"), program);
      const expected = await runDeno(["-A", LEARN, "eager", "onnx"]);
      assertEquals([expected.code, expected.err], [0, ""]);
      for (const { path } of nodes) {
        const args = ["learn.mts", "eager", "onnx"];
        assertEquals(await runProgram(path, args, { cwd: all }), expected);
      }
    }),
);
