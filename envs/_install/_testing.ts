import { createHash } from "node:crypto";
import { zipSync } from "fflate";
import type { Installation, InstallOutput } from "./run_install.ts";
import type { PinnedPackage } from "./pinned_package.ts";

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

/** A package whose wheel holds one library. */
export function toyPackage(wheel: Uint8Array): PinnedPackage {
  const sha256 = createHash("sha256").update(wheel).digest("hex");
  return {
    name: "toy-box",
    version: "1.0",
    licence: "toys, under no licence",
    wheels: { [TOY_WHEEL]: sha256 },
    wheelFor: () => TOY_WHEEL,
    place: (entry) => entry === "toy_box/lib.so" ? "lib.so" : undefined,
    variable: "BELLMAN_TOYS",
  };
}

/** An installation of it. */
export function toyInstallation(
  wheel: Uint8Array,
  dir: string,
): Installation {
  return {
    title: "Toys",
    task: "install-toys",
    dir: () => dir,
    packages: [toyPackage(wheel)],
    notice: ["Toys are for playing."],
    required: { "toy-box": ["lib.so"] },
    told: (folder) => [`toys ${folder}`],
  };
}

/** Keeps what an install task prints. */
export class RecordedOutput implements InstallOutput {
  lines: string[] = [];
  errors: string[] = [];

  out(line: string): void {
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
