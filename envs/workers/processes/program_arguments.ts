import { builtin } from "@bellman/files";
import { isFile } from "@bellman/files/installed";

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

/** Lists flags for the permissions that this process has whole, and for this machine. */
export function ownPermissions(): string[] {
  const own = PERMISSIONS.filter((name) => isWhole({ name }) === true);
  const isHere = isWhole({ name: "net" }) === undefined &&
    isWhole({ name: "net", host: "127.0.0.1" });
  return [...own, ...isHere ? ["net=127.0.0.1"] : []]
    .map((it) => `--allow-${it}`);
}

/** Says if a permission is granted: false if a part of it may have been denied. */
function isWhole(permission: Deno.PermissionDescriptor): boolean | undefined {
  // Which part that is cannot be found out.
  const { state, partial } = Deno.permissions.querySync(permission);
  return state === "granted" ? !partial : undefined;
}

/**
 * Finds the flag for the configuration that names the modules of a program.
 * Deno finds it next to a program that is a file; one that was loaded from
 * elsewhere gets the nearest one to here.
 */
function configFlags(main: string): string[] {
  if (new URL(main).protocol === "file:") return [];
  const { fileURLToPath, pathToFileURL } = builtin("node:url");
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

/**
 * Makes the arguments by which Deno runs a module as another process.
 *
 * @param main URL of the module.
 * @param options Deno's flags for what it may do, by default the permissions that
 * this process has without bounds, and other flags of Deno.
 * @returns The arguments, to which those of the program are added.
 *
 * @example
 * ```ts
 * import { programArguments } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const permissions = ["--allow-read"];
 * const args = programArguments("file:///tools/main.ts", { permissions });
 * assertEquals(args.slice(-2), ["--allow-read", "file:///tools/main.ts"]);
 * ```
 */
export function programArguments(
  main: string,
  { permissions = ownPermissions(), flags = [] }: {
    permissions?: readonly string[];
    flags?: readonly string[];
  } = {},
): string[] {
  const all = ["--quiet", "--no-check", "--no-prompt", ...flags];
  return ["run", ...all, ...permissions, ...configFlags(main), main];
}
