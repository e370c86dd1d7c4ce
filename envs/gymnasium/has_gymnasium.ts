import { defaultPython } from "./_python.ts";

const known = new Map<string, boolean>();

/**
 * Whether a Python has Gymnasium. The answer for each Python is remembered.
 *
 * @param options Which Python: by default the variable BELLMAN_PYTHON, or
 * "python3".
 * @returns True if it can be run and finds the package.
 * @example
 * ```ts
 * import { hasGymnasium } from "@bellman/envs/gymnasium";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(hasGymnasium({ python: "no-such-program" }), false);
 * ```
 */
export function hasGymnasium(
  { python = defaultPython() }: { python?: string } = {},
): boolean {
  let found = known.get(python);
  if (found === undefined) known.set(python, found = look(python));
  return found;
}

function look(python: string): boolean {
  const source = "import importlib.util as it, sys\n" +
    "sys.exit(it.find_spec('gymnasium') is None)";
  try {
    const args = ["-c", source];
    return new Deno.Command(python, { args }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    if (error instanceof Deno.errors.PermissionDenied) return false;
    if (error instanceof Deno.errors.NotCapable) return false;
    throw error;
  }
}
