import { builtin } from "@bellman/files";
import { readVariable } from "@bellman/files/installed";
import { programArguments } from "../processes/program_arguments.ts";
import { codeFolder, commandInCopy } from "./code_on_nodes.ts";
import texts from "./driver/texts.json" with { type: "json" };
import type { RayOptions } from "./ray_options.ts";

/** A program and its arguments. */
export interface RayCommand {
  /** Name or path of the program. */
  readonly program: string;
  /** Its arguments. */
  readonly args: readonly string[];
}

/**
 * Names the Python that has Ray: the variable BELLMAN_RAY_PYTHON, then BELLMAN_PYTHON,
 * then `python3`.
 *
 * @returns Its path or name.
 *
 * @example
 * ```ts
 * import { rayPython } from "@bellman/envs/ray";
 * import { assertEquals } from "@std/assert";
 *
 * Deno.env.set("BELLMAN_RAY_PYTHON", "/opt/ray/bin/python");
 * assertEquals(rayPython(), "/opt/ray/bin/python");
 * ```
 */
export function rayPython(): string {
  return readVariable("BELLMAN_RAY_PYTHON") || readVariable("BELLMAN_PYTHON") ||
    "python3";
}

/**
 * Makes the command of a Python program that joins a cluster.
 *
 * @param text Text of the program. That of `driver/cluster.py` comes before it, whose
 * `join` reaches the cluster.
 * @param options The cluster, and the folder of the code.
 * @param settings More that the program gets as JSON.
 * @returns The command.
 *
 * @example
 * ```ts
 * import { rayProgram } from "@bellman/envs/ray";
 * import { assertEquals } from "@std/assert";
 *
 * const { args } = rayProgram("main()", { cluster: "local", folder: "/code" });
 * assertEquals(args.slice(-2), ["local", '{"code":"ship","folder":"/code"}']);
 * ```
 */
export function rayProgram(
  text: string,
  { cluster, code = "ship", folder, python = rayPython() }: RayOptions,
  settings: object = {},
): RayCommand {
  const given = JSON.stringify({ code, folder, ...settings });
  return {
    program: python,
    args: ["-u", "-c", `${texts["cluster.py"]}\n${text}`, cluster, given],
  };
}

/**
 * Says why a program could not join the cluster: by its own last line, where that is a
 * sentence.
 *
 * @param python The Python.
 * @param end Why it could not be started, and what it has printed to stderr.
 * @returns A sentence.
 *
 * @example
 * ```ts
 * import { whyNoRay } from "@bellman/envs/ray";
 * import { assertEquals } from "@std/assert";
 *
 * const prints = "...\nCannot reach the Ray cluster at 10.0.0.1:6379: timed out.\n";
 * assertEquals(
 *   whyNoRay("python3", { prints }),
 *   "Cannot reach the Ray cluster at 10.0.0.1:6379: timed out.",
 * );
 * ```
 */
export function whyNoRay(
  python: string,
  { failure, prints }: { failure?: string; prints: string },
): string {
  const variable = "set BELLMAN_RAY_PYTHON to a Python that has Ray";
  if (failure !== undefined) {
    return `Cannot start Python '${python}': ${failure}; ${variable}`;
  }
  const { stripVTControlCharacters } = builtin("node:util");
  const last = stripVTControlCharacters(prints).trim().split("\n").at(-1)!;
  if (last.startsWith("Cannot ")) return last;
  return `Cannot use '${python}' as Python with Ray: ${
    last.trim() || "it gives no answer"
  }; ${variable}`;
}

/**
 * Says that a cluster asks for no token.
 *
 * @param cluster Its address.
 * @returns A sentence.
 *
 * @example
 * ```ts
 * import { unsecured } from "@bellman/envs/ray";
 * import { assertStringIncludes } from "@std/assert";
 *
 * assertStringIncludes(unsecured("10.0.0.1:6379"), "10.0.0.1:6379 asks for no token");
 * ```
 */
export function unsecured(cluster: string): string {
  return `The cluster at ${cluster} asks for no token: whoever reaches it runs code on it; set RAY_AUTH_MODE=token on all nodes`;
}

/**
 * Makes the command that runs a module on the nodes of a cluster, with the permissions
 * that this process has without bounds. In its arguments `{code}` stands for the folder
 * of the code there.
 *
 * @param main URL of the module.
 * @param options How the nodes get the code.
 * @returns The command, and the folder of the code here.
 *
 * @example
 * ```ts
 * import { denoOnNodes } from "@bellman/envs/ray";
 * import { assertEquals } from "@std/assert";
 *
 * const main = "file:///code/main.ts";
 * const { program, args } = denoOnNodes(main, { folder: "/code" });
 * assertEquals([program, args.at(-1)], ["deno", "file://{code}/main.ts"]);
 * ```
 */
export function denoOnNodes(
  main: string,
  { code = "ship", folder = codeFolder(main) }: Pick<
    RayOptions,
    "code" | "folder"
  >,
): RayCommand & { readonly folder: string } {
  // Without the flag a node behind a firewall would wait for minutes.
  const args = programArguments(main, { flags: ["--cached-only"] });
  const command = { program: "deno", args };
  const moved = code === "ship" ? commandInCopy(command, folder) : command;
  return { program: "deno", args: moved.args ?? [], folder };
}
