import { createHash } from "node:crypto";
import { zipSync } from "fflate";
import {
  type Installation,
  type InstallOutput,
  runInstall,
} from "../run_install.ts";
import type { PinnedPackage } from "../wheels.ts";

/** A small wheel with a licence. */
export function wheelOf(files: Record<string, string>): Uint8Array {
  const encode = (text: string) => new TextEncoder().encode(text);
  const entries = Object.entries({
    ...files,
    "toy_box-1.0.dist-info/licenses/LICENSE": "Do as you like.",
    "toy_box-1.0.dist-info/METADATA": "Name: toy-box",
  });
  return zipSync(
    Object.fromEntries(entries.map(([path, text]) => [path, encode(text)])),
  );
}

/** A wheel's name as pip knows it. */
export const TOY_WHEEL = "toy_box-1.0-cp311-cp311-manylinux_2_28_x86_64.whl";

/** Returns the wheels of a package that has one, by its hash. */
export function pinned(file: string, wheel: Uint8Array) {
  return { [file]: createHash("sha256").update(wheel).digest("hex") };
}

/** A package with one library in its wheel. */
export function toyPackage(wheel: Uint8Array): PinnedPackage {
  return {
    name: "toy-box",
    version: "1.0",
    licence: "toys, under no licence",
    wheels: pinned(TOY_WHEEL, wheel),
    place: (entry) => entry === "toy_box/lib.so" ? "lib.so" : undefined,
    files: ["lib.so"],
    what: "toys",
    at: "lib.so",
    variable: "BELLMAN_TOYS",
  };
}

/** A package of machine code without a wheel for any platform. */
export function withoutWheel(of: PinnedPackage): PinnedPackage {
  return { ...of, isNative: true, wheels: { "toy_box-1.0-x-y-z.whl": "" } };
}

/** An installation of it. */
export function toyInstallation(
  wheel: Uint8Array,
  dir: string,
): Installation {
  return {
    title: "Toys",
    task: "install-toys",
    module: "@toys/install",
    folder: dir,
    packages: [toyPackage(wheel)],
    notice: "Toys are for playing.",
  };
}

/** Keeps what an install task prints. */
export class RecordedOutput implements InstallOutput {
  lines: string[] = [];
  errors: string[] = [];

  log(line: string): void {
    this.lines.push(line);
  }

  error(line: string): void {
    this.errors.push(line);
  }
}

/** Runs with a new folder, which is gone afterwards. */
export async function inFolder(
  run: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What is in the library of the toys' wheel. */
export const CODE = "machine code";
/** The toys' wheel. */
export const WHEEL = wheelOf({ "toy_box/lib.so": CODE, "toy_box/x.py": "" });

/** Result of an install task. */
export interface Install {
  code: number;
  output: RecordedOutput;
}

/** A folder with the wheel in it, and a task that installs it next to it. */
export async function withToys(
  run: (toys: {
    folder: string;
    dir: string;
    wheel: string;
    install(...args: string[]): Promise<Install>;
  }) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    const [dir, wheel] = [`${folder}/cache/toys`, `${folder}/${TOY_WHEEL}`];
    await Deno.writeFile(wheel, WHEEL);
    const installation = toyInstallation(WHEEL, dir);
    const install = async (...args: string[]): Promise<Install> => {
      const output = new RecordedOutput();
      return { code: await runInstall(installation, args, output), output };
    };
    await run({ folder, dir, wheel, install });
  });
}

/** The names in a folder. */
export async function entries(dir: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(dir)) names.push(name);
  return names.sort();
}
