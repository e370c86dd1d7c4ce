import type { EnvKwargs } from "../registry/registry.ts";
import { isDeno } from "@bellman/files";
import { readVariable } from "@bellman/files/installed";
import texts from "./host/texts.json" with { type: "json" };
import type { ChildCommand } from "../workers/processes/child.ts";

/** A wrapper of Python around each environment. */
export interface PythonWrapper {
  /**
   * Module and class, or a function: `gymnasium.wrappers:FlattenObservation`; the
   * module may be the path of a file: `./my_wrappers.py:Scaled`.
   */
  name: string;
  /**
   * Arguments of its constructor in addition to the environment; values of JSON.
   *
   * @default {}
   */
  kwargs?: EnvKwargs;
}

/** Options of an environment of Gymnasium, and of its Python. */
export interface GymnasiumOptions {
  /**
   * The Python that has Gymnasium and the environment.
   *
   * @default the variable BELLMAN_PYTHON, or "python3" where that is not set or
   * may not be read
   */
  python?: string;
  /**
   * Arguments of `gymnasium.make` in addition to the id; values of JSON. `render_mode`
   * is "rgb_array" unless said otherwise, where a single environment can do
   * that.
   *
   * @default {}
   */
  kwargs?: EnvKwargs;
  /**
   * Python modules to import first, such as those that register environments:
   * their names, or paths of files that end in `.py`.
   *
   * @default []
   */
  modules?: readonly string[];
  /**
   * Wrappers of Python around each environment, the innermost first.
   *
   * @default []
   */
  wrappers?: readonly PythonWrapper[];
  /**
   * True to use the masks of actions that an environment or a wrapper of Python gives:
   * those of its method `action_masks()`, or of `info["action_mask"]`; false not to. An
   * environment without them is an error where this is true.
   *
   * @default those that there are
   */
  useActionMasks?: boolean;
  /**
   * Time for Python to start and to make the environments, in milliseconds.
   *
   * @default 120_000
   */
  startTimeoutMs?: number;
  /**
   * Time for a reset or a step, in milliseconds; a restore may take that long
   * for each action that it plays again.
   *
   * @default 60_000
   */
  stepTimeoutMs?: number;
  /**
   * True where prints of the environments are shown on stderr; errors show the
   * last of it in any case.
   *
   * @default false
   */
  showOutput?: boolean;
}

/** Throws unless a value comes out of JSON as it went in. */
export function checkPlain(value: unknown, name: string): void {
  const isPlain = value === null || typeof value === "string" ||
    typeof value === "boolean" || Number.isFinite(value);
  if (isPlain) return;
  const isRecord = typeof value === "object" &&
    (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype);
  if (!isRecord) {
    throw new TypeError(
      `Cannot give ${name} to Python as it is ${
        typeof value === "object" ? value!.constructor?.name : String(value)
      }: expected a value of JSON`,
    );
  }
  for (const [key, inner] of Object.entries(value)) {
    checkPlain(inner, `${name}.${key}`);
  }
}

const { "boot.py": boot, ...files } = texts;

/** Modules of the host by name. */
const MODULES = Object.fromEntries(
  Object.entries(files).map(([name, text]) => [name.replace(".py", ""), text]),
);

const VARIABLE = "BELLMAN_PYTHON";

/** Names the Python that is used by default. */
export function defaultPython(): string {
  return readVariable(VARIABLE) || "python3";
}

/** Says, for errors, how to name another Python. */
export function otherPython(title = "Gymnasium"): string {
  const asked = { name: "env", variable: VARIABLE } as const;
  const option = `the option 'python' to a Python that has ${title}`;
  return Deno.permissions.querySync(asked).state === "granted"
    ? `set ${VARIABLE} or ${option}`
    : `permit this program to read ${VARIABLE} (--allow-env=${VARIABLE}), or set ${option}`;
}

/** Makes the command that hosts environments. */
export function hostCommand(python: string): ChildCommand {
  return {
    program: python,
    args: ["-u", "-c", boot, JSON.stringify(MODULES)],
  };
}

/** Answers by package and Python. */
const answers = new Map<string, boolean>();

/**
 * True where a Python has Gymnasium. The answer for each Python is remembered.
 *
 * @param options The Python: by default the variable BELLMAN_PYTHON, or
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
  return has("gymnasium", python);
}

/**
 * True where a Python has PettingZoo. The answer for each Python is remembered.
 *
 * @param options The Python: by default the variable BELLMAN_PYTHON, or
 * "python3".
 * @returns True if it can be run and finds the package.
 * @example
 * ```ts
 * import { hasPettingZoo } from "@bellman/envs/gymnasium";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(hasPettingZoo({ python: "no-such-program" }), false);
 * ```
 */
export function hasPettingZoo(
  { python = defaultPython() }: { python?: string } = {},
): boolean {
  return has("pettingzoo", python);
}

function has(name: string, python: string): boolean {
  const key = `${name} ${python}`;
  let found = answers.get(key);
  if (found === undefined) answers.set(key, found = look(name, python));
  return found;
}

function look(name: string, python: string): boolean {
  if (!isDeno()) return false;
  // Nothing is imported from the folder that this happens to run in.
  const source = "import sys; sys.path[:] = filter(None, sys.path)\n" +
    "import importlib.util as it\n" +
    `sys.exit(it.find_spec('${name}') is None)`;
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
