import { builtin } from "@bellman/files";
import { isFile } from "@bellman/files/installed";
import type { CheckedSource } from "../group_source.ts";
import type { ChildCommand } from "../processes/child_group.ts";

/** Stands in a command for the folder of the code on a node. */
export const CODE = "{code}";

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
export function folderUrl(folder: string): string {
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

/** Throws where a module of a source would not be in the copy of a folder. */
export function checkShipped(source: CheckedSource, folder: string): void {
  const modules = "id" in source ? source.imports ?? [] : [source.module];
  const missing = modules.find((it) =>
    new URL(it).protocol === "file:" && !it.startsWith(folderUrl(folder))
  );
  if (missing === undefined) return;
  throw new TypeError(
    `Cannot ship ${missing} to the cluster: expected a module in ${folder}, or code that is at the same path on all nodes (code: "here", --cluster-code here)`,
  );
}

/** Returns a path of a Python file in a folder as its copy has it; names stay. */
export function pathInCopy(path: string, folder: string): string {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}
