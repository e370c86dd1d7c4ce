import { builtin } from "./runtime.ts";

/** Global objects of the different runtimes. */
const runtime = globalThis as {
  readonly Deno?: typeof Deno;
  readonly process?: {
    readonly arch: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly platform: string;
    readonly versions?: { readonly node?: string };
  };
};

/** Oldest Node that has all functions of the language that are used. */
const OLDEST_NODE = 22;

/** Says that Node is too old: what it lacks would fail later, in other words. */
function noticeOldNode(): void {
  const node = runtime.process?.versions?.node ?? "";
  if (runtime.Deno || !(parseInt(node) < OLDEST_NODE)) return;
  // deno-lint-ignore no-console -- nothing is called yet that could take it
  console.warn(
    `Node ${node} is too old for Bellman, which may fail: expected Node ${OLDEST_NODE} or newer`,
  );
}

noticeOldNode();

/** Permission of Deno. */
export type HostPermission =
  | { readonly name: "env"; readonly variable?: string }
  | { readonly name: "ffi" }
  | { readonly name: "read" | "write"; readonly path?: string | URL };

/**
 * Returns true in Deno, which native libraries need.
 *
 * @example
 * ```ts
 * import { isDeno } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(isDeno(), "Deno" in globalThis);
 * ```
 */
export function isDeno(): boolean {
  return runtime.Deno !== undefined;
}

/**
 * Throws outside Deno, before something that needs it.
 *
 * @param action The action, such as `open a native library`.
 * @throws {Error} In Node and browsers.
 *
 * @example
 * ```ts
 * import { checkDeno } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(checkDeno("open a native library"), undefined);
 * ```
 */
export function checkDeno(action: string): void {
  if (!isDeno()) throw new Error(`Cannot ${action}: it needs Deno`);
}

/**
 * Returns the state of a Deno permission: always `granted` in Node and browsers.
 *
 * @param permission The permission.
 * @param options Asks for it at the terminal first.
 *
 * @example
 * ```ts
 * import { permissionState } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(permissionState({ name: "read", path: "." }), "granted");
 * ```
 */
export function permissionState(
  permission: HostPermission,
  { ask = false }: { readonly ask?: boolean } = {},
): "denied" | "granted" | "prompt" {
  const permissions = runtime.Deno?.permissions;
  if (permissions === undefined) return "granted";
  return ask
    ? permissions.requestSync(permission).state
    : permissions.querySync(permission).state;
}

/**
 * Returns true for Deno's error of a missing permission.
 *
 * @param error Any thrown value.
 *
 * @example
 * ```ts
 * import { isNotCapable } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(isNotCapable(new TypeError("Cannot read")), false);
 * ```
 */
export function isNotCapable(error: unknown): boolean {
  const { Deno } = runtime;
  return Deno !== undefined && error instanceof Deno.errors.NotCapable;
}

/**
 * Returns an environment variable; undefined if it is unset or empty, and in browsers.
 *
 * @param name Name of the variable.
 * @throws {Deno.errors.NotCapable} Without the permission to read it.
 *
 * @example
 * ```ts
 * import { environmentVariable } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(environmentVariable("BELLMAN_NO_SUCH_LIBRARY"), undefined);
 * ```
 */
export function environmentVariable(name: string): string | undefined {
  const { Deno, process } = runtime;
  return (Deno ? Deno.env.get(name) : process?.env[name]) || undefined;
}

/**
 * Returns true if the variable `NO_COLOR` asks for plain text; needs no permission in
 * Deno.
 *
 * @example
 * ```ts
 * import { isColorUnwanted } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(isColorUnwanted(), Deno.noColor);
 * ```
 */
export function isColorUnwanted(): boolean {
  return runtime.Deno?.noColor ?? environmentVariable("NO_COLOR") !== undefined;
}

/** Deno's names where Node's differ. */
const NAMES: Readonly<Record<string, string>> = {
  arm64: "aarch64",
  win32: "windows",
  x64: "x86_64",
};

/**
 * Returns operating system and processor, by the names of `Deno.build`.
 *
 * @example
 * ```ts
 * import { platform } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(platform().os, Deno.build.os);
 * ```
 */
export function platform(): {
  /** `linux`, `darwin`, `windows` or another name of Deno's; `page` in a browser. */
  readonly os: string;
  /** `x86_64`, `aarch64` or another name of Deno's; `wasm` in a browser. */
  readonly arch: string;
} {
  const { Deno, process } = runtime;
  if (Deno) return Deno.build;
  const { platform: os = "page", arch = "wasm" } = process ?? {};
  return { os: NAMES[os] ?? os, arch: NAMES[arch] ?? arch };
}

/**
 * Returns the bytes of memory and swap space.
 *
 * @returns Undefined in browsers, and without the permission to ask.
 *
 * @example
 * ```ts
 * import { memoryBytes } from "@bellman/files";
 * import { assert } from "@std/assert";
 *
 * const bytes = memoryBytes();
 * assert(bytes === undefined || bytes > 2 ** 26);
 * ```
 */
export function memoryBytes(): number | undefined {
  const { Deno, process } = runtime;
  if (!Deno) return process && builtin("node:os").totalmem();
  const asked = { name: "sys", kind: "systemMemoryInfo" } as const;
  if (Deno.permissions.querySync(asked).state !== "granted") return undefined;
  const { total, swapTotal } = Deno.systemMemoryInfo();
  return total + swapTotal;
}

/**
 * Formats any value on one line, for messages.
 *
 * @param value The value.
 * @returns Deno's format; JSON in Node and browsers, where possible.
 *
 * @example
 * ```ts
 * import { inspect } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(inspect("far"), '"far"');
 * ```
 */
export function inspect(value: unknown): string {
  const { Deno } = runtime;
  if (Deno) {
    return Deno.inspect(value, { compact: true, breakLength: Infinity });
  }
  try {
    const hasJson = typeof value === "object" || typeof value === "string";
    return hasJson ? JSON.stringify(value) : String(value);
  } catch {
    return String(value); // Circular value.
  }
}
