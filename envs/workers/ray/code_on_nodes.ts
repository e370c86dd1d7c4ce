import { builtin, checkDeno } from "@bellman/files";
import { isFile } from "@bellman/files/installed";
import { fileAddressesIn } from "../_relocate.ts";
import type { ChildCommand } from "../processes/child.ts";
import { hostCommand } from "../processes/_process_hosts.ts";
import { ownPermissions } from "../processes/program_arguments.ts";
import type { RayOptions } from "./ray_options.ts";

/** Stands in a command for the folder of the code on a node. */
const CODE = "{code}";

/**
 * Finds the folder of the code: the outermost one above a module that has a
 * `deno.json`; where the module is no file, the current one.
 */
export function codeFolder(main: string): string {
  const { fileURLToPath } = builtin("node:url");
  if (new URL(main).protocol !== "file:") return Deno.cwd();
  let found = new URL("./", main);
  for (let folder = found;;) {
    const isProject = ["deno.json", "deno.jsonc"]
      .some((name) => isFile(fileURLToPath(new URL(name, folder))));
    if (isProject) found = folder;
    const above = new URL("../", folder);
    if (above.href === folder.href) return fileURLToPath(found).slice(0, -1);
    folder = above;
  }
}

/** Returns a folder as the beginning of the addresses of its modules. */
function folderUrl(folder: string): string {
  return builtin("node:url").pathToFileURL(`${folder}/`).href;
}

/**
 * Returns a command for a copy of a folder: what lies in it is in the copy.
 *
 * @param command The command.
 * @param folder The folder here, without a slash at its end.
 */
export function commandInCopy(
  command: ChildCommand,
  folder: string,
): ChildCommand {
  const url = folderUrl(folder), inCopy = `file://${CODE}/`;
  const args = command.args?.map((it) =>
    it.replace(url, inCopy).replace(`${folder}/`, `${CODE}/`)
  );
  return { ...command, args };
}

/** Throws where plain data names files that would not be in the copy of a folder. */
function checkShipped(data: unknown, folder: string): void {
  const missing = fileAddressesIn(data)
    .find((it) => !it.startsWith(folderUrl(folder)));
  if (missing === undefined) return;
  throw new TypeError(
    `Cannot ship ${missing} to the cluster: expected a module in ${folder}, or code that is at the same path on all nodes (code: "here", --cluster-code here)`,
  );
}

/** Throws where Ray cannot be used. */
export function checkRay(what: string): void {
  checkDeno(`${what} with Ray`);
  if (Deno.build.os !== "windows") return;
  throw new TypeError(
    `Cannot ${what} with Ray on Windows: expected Linux or macOS`,
  );
}

/** How nodes run a module that is a Deno program. */
export interface NodeProgram {
  readonly command: ChildCommand;
  /** Address of the folder of which the nodes have a copy, if they do. */
  readonly root: string | undefined;
  /** Folder of the code. */
  readonly folder: string;
  /** What the program has to say its version is. */
  readonly version: string;
}

/**
 * Makes what nodes run a Deno program by.
 *
 * @param main Address of its module.
 * @param data Plain data that it gets, which may name modules.
 * @param options The cluster, and Deno's flags for what it may do.
 * @throws {TypeError} If the data names a file that the nodes would not have.
 */
export function nodeProgram(
  main: string,
  data: unknown,
  { permissions = ownPermissions(), code = "ship", ...given }:
    & RayOptions
    & { readonly permissions?: readonly string[] },
): NodeProgram {
  const folder = given.folder ?? codeFolder(main);
  const { args, ...host } = hostCommand({
    main,
    permissions,
    program: "deno",
    // Without it a node behind a firewall would wait for minutes.
    flags: ["--cached-only"],
  });
  const command = { ...host, args: [...args, CODE] };
  const isShipped = code === "ship";
  if (isShipped) checkShipped(data, folder);
  return {
    command: isShipped ? commandInCopy(command, folder) : command,
    root: isShipped ? folderUrl(folder) : undefined,
    folder,
    version: `deno ${Deno.version.deno}`,
  };
}

/** Returns a path of a Python file in a folder as its copy has it; names stay. */
export function pathInCopy(path: string, folder: string): string {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}
