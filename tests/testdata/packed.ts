/** The packages for npm as tarballs. */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { packages, ROOT } from "../tools/packages.ts";
import { runDeno } from "./run_deno.ts";
import { runProgram } from "./run_node.ts";

type Dependencies = Record<string, string>;

/** A package that is written into a tarball. */
export interface Packed {
  readonly path: string;
  readonly name: string;
  readonly exports: Record<string, unknown>;
  readonly dependencies: Dependencies;
  readonly peerDependencies: Dependencies;
  readonly engines: Dependencies;
}

/** The example of A2C's README. */
export const EXAMPLE: string =
  Deno.readTextFileSync(`${ROOT}algorithms/a2c/README.md`)
    .match(/^```ts\n(.*?)^```/ms)![1];

/** Packs all packages but the command line into a folder; returns them by their names. */
export async function packInto(
  folder: string,
): Promise<ReadonlyMap<string, Packed>> {
  const { code, err } = await runDeno(
    ["pack", "--out", folder],
    { command: "task", cwd: ROOT },
  );
  assertEquals(code, 0, err);
  const found = new Map<string, Packed>();
  for (const { name } of Deno.readDirSync(folder)) {
    const path = join(folder, name);
    const args = ["-xzOf", path, "package/package.json"];
    const { out: text } = await runProgram("tar", args);
    const manifest = JSON.parse(text);
    found.set(manifest.name, { path, ...manifest });
  }
  assertEquals(found.size, (await packages()).length - 1);
  return found;
}

/** Lists the tarballs that a program needs: of the packages that it imports, and theirs. */
export function tarballsOf(
  program: string,
  packed: ReadonlyMap<string, Packed>,
): string[] {
  const imports = program.matchAll(/"(@bellman\/[a-z0-9-]+)"/g);
  const found = new Set(Array.from(imports, ([, name]) => name));
  for (const name of found) {
    for (const it of Object.keys(packed.get(name)!.dependencies)) {
      if (packed.has(it)) found.add(it);
    }
  }
  return Array.from(found, (name) => packed.get(name)!.path);
}
