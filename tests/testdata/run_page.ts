import { runDeno } from "./run_deno.ts";
import { LOCK } from "../tools/packages.ts";
import { testsWith } from "./tests_with.ts";

/** Debian's program. */
export const CHROMIUM = "/usr/bin/chromium";

/** What happened in a page. */
export interface PageReport {
  /** Values of the expressions, as JSON. */
  readonly values: unknown[];
  /** Everything that went wrong, and requests of other machines. */
  readonly complaints: string[];
}

/**
 * Evaluates expressions one after the other in an empty page next to the files
 * of a folder, or in a page that is opened from the disk. The browser's library wants every permission, so that it runs in
 * a process of its own.
 */
export async function inPage(
  place: string,
  ...expressions: string[]
): Promise<PageReport> {
  const program = new URL("./page_process.ts", import.meta.url).pathname;
  const { code, out, err } = await runDeno([
    LOCK,
    "--allow-all",
    program,
    place,
    ...expressions,
  ]);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

/** Copies the WebAssembly of a package next to a bundle. */
export async function copyWasm(from: URL, to: string): Promise<void> {
  for await (const { name } of Deno.readDir(from)) {
    if (!name.endsWith(".wasm")) continue;
    await Deno.copyFile(new URL(name, from), `${to}/${name}`);
  }
}

/** True where there is a browser. */
export function hasChromium(): boolean {
  try {
    return Deno.statSync(CHROMIUM).isFile;
  } catch {
    return false;
  }
}

/** Adds a test that needs a browser. */
export const chromiumTest: ReturnType<typeof testsWith> = testsWith(
  "Chromium",
  hasChromium(),
);
