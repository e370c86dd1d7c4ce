/** The packages for npm as tarballs. */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { packages, ROOT } from "../tools/packages.ts";
import { runDeno } from "./run_deno.ts";
import { runProgram } from "./run_node.ts";

/** A package that is written into a tarball. */
export interface Packed {
  readonly path: string;
  readonly name: string;
  readonly exports: Record<string, unknown>;
}

/** The example of A2C's README. */
export const EXAMPLE: string =
  Deno.readTextFileSync(`${ROOT}algorithms/a2c/README.md`)
    .match(/^```ts\n(.*?)^```/ms)![1];

/** Packs all packages into a folder; returns them by their names. */
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
  assertEquals(found.size, (await packages()).length);
  return found;
}
