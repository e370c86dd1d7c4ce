/**
 * Sets up Optuna, which draws the trials of `search`, in a virtual environment of the
 * cache folder: pinned versions from PyPI, of known hashes. Doing it twice does nothing.
 *
 * In Bellman's repository this is `deno task install-optuna`. It needs a `python3` of
 * at least 3.11. Importing this installs nothing.
 *
 * @example
 * ```sh
 * deno run -RWES --allow-run jsr:@bellman/search/install-optuna
 * ```
 *
 * @module
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { messageOf, processIo, writeWhole } from "@bellman/runs/program";
import texts from "./host/texts.json" with { type: "json" };
import { OPTUNA_VERSION, optunaFolder, pythonIn } from "./optuna.ts";

/** Packages with their versions and the hashes of their files. */
const PINNED = texts["requirements.txt"];

/** File that lists the folder's content, once it is complete. */
const MANIFEST = "installed.txt";

/** Runs a program to its end. */
async function run(program: string, args: readonly string[]): Promise<void> {
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(program, { args: [...args] }).output();
  } catch (error) {
    throw new Error(`${program} cannot be run: ${messageOf(error)}`);
  }
  const { success, code, stdout, stderr } = output;
  if (success) return;
  const said = [stdout, stderr]
    .flatMap((it) => new TextDecoder().decode(it).trim().split("\n"))
    .filter((it) => it !== "");
  const why = said.find((it) => it.startsWith("ERROR:")) ?? said.at(-1) ?? "";
  throw new Error(`${program} ended with ${code}: ${why.trim()}`);
}

/**
 * Installs a virtual environment with Optuna, replacing an earlier one.
 *
 * @param folder Folder of the virtual environment.
 * @param python Python to create it with.
 * @returns True if something was installed.
 * @throws {Error} If Python or its pip fails; the folder is then unchanged.
 *
 * @example
 * ```ts
 * import { installOptuna } from "@bellman/search/install-optuna";
 * import { assertRejects } from "@std/assert";
 *
 * const folder = `${await Deno.makeTempDir()}/optuna`;
 * await assertRejects(() => installOptuna(folder, "no-such-python"));
 * ```
 */
export async function installOptuna(
  folder: string = optunaFolder(),
  python = Deno.build.os === "windows" ? "python" : "python3",
): Promise<boolean> {
  const manifest = `${folder}/${MANIFEST}`;
  if (existsSync(manifest) && readFileSync(manifest, "utf8") === PINNED) {
    return false;
  }
  const fresh = `${folder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  try {
    await run(python, ["-m", "venv", fresh]);
    const requirements = `${fresh}/${MANIFEST}`;
    writeWhole(requirements, PINNED);
    await run(pythonIn(fresh), [
      ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check"],
      ...["--only-binary", ":all:", "--require-hashes", "-r", requirements],
    ]);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return true;
}

if (import.meta.main) {
  try {
    await installOptuna();
    processIo().out(`Optuna ${OPTUNA_VERSION} ${pythonIn(optunaFolder())}\n`);
  } catch (error) {
    processIo().err(`Cannot install Optuna: ${messageOf(error)}\n`);
    Deno.exitCode = 1;
  }
}
