import { fileURLToPath, pathToFileURL } from "node:url";
import { isFile } from "../_files.ts";
import type { ChildCommand } from "../_process/child_group.ts";

/** A flag that says which configuration is used, or that none is. */
const CONFIG = /^(--config|-c|--no-config)\b/;

const PERMISSIONS = [
  "read",
  "write",
  "net",
  "env",
  "sys",
  "run",
  "ffi",
  "import",
] as const;

/** Flags for the permissions that this process has without bounds. */
export function ownPermissions(): string[] {
  return PERMISSIONS.filter((name) => {
    // A part of it may have been denied, of which one is not told more.
    const { state, partial } = Deno.permissions.querySync({ name });
    return state === "granted" && !partial;
  }).map((name) => `--allow-${name}`);
}

/**
 * The flag for the configuration that names the modules of a program. Deno
 * finds it beside a program that is a file; one that was loaded from elsewhere
 * is told of the one that lies nearest to here.
 */
function configFlags(main: string): string[] {
  if (new URL(main).protocol === "file:") return [];
  for (let folder = pathToFileURL(`${Deno.cwd()}/`);;) {
    for (const name of ["deno.json", "deno.jsonc"]) {
      const file = fileURLToPath(new URL(name, folder));
      if (isFile(file)) return [`--config=${file}`];
    }
    const above = new URL("../", folder);
    if (above.href === folder.href) return [];
    folder = above;
  }
}

/** How a host process is started. */
export function hostCommand(
  permissions: readonly string[],
  flags: readonly string[],
): ChildCommand {
  if (Deno.build.standalone) {
    throw new TypeError(
      "Cannot host copies in processes as this is a compiled program, whose modules no other process can run: use WorkerVecEnv",
    );
  }
  const main = import.meta.resolve("./_process_main.ts");
  return {
    program: Deno.execPath(),
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      ...permissions,
      ...(flags.some((flag) => CONFIG.test(flag)) ? [] : configFlags(main)),
      ...flags,
      main,
      // It ends with this process.
      String(Deno.pid),
    ],
    // What it prints is kept as text.
    env: { NO_COLOR: "1" },
  };
}
