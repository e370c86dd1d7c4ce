import { builtin } from "./runtime.ts";

/** Global objects that only some runtimes have. */
const runtime = globalThis as {
  readonly Deno?: typeof Deno;
  readonly process?: {
    readonly arch: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly platform: string;
  };
};

/** A permission that Deno gives or withholds. */
export type HostPermission =
  | { readonly name: "env"; readonly variable?: string }
  | { readonly name: "ffi" }
  | { readonly name: "read" | "write"; readonly path?: string | URL };

/**
 * True in Deno, whose interface to native libraries some need.
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
 * Throws where this is not Deno, before something that needs it.
 *
 * @param action The action, such as `open a native library`.
 * @throws {Error} In Node and in pages, in one line.
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
 * Returns the state of a permission: `granted` in Node and in pages, which have
 * none.
 *
 * @param permission The permission.
 * @param options True to ask for it at the terminal first.
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
): Deno.PermissionState {
  const permissions = runtime.Deno?.permissions;
  if (permissions === undefined) return "granted";
  return ask
    ? permissions.requestSync(permission).state
    : permissions.querySync(permission).state;
}

/**
 * True for the error of a permission that Deno withholds.
 *
 * @param error Anything thrown.
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
 * Returns an environment variable; undefined where it is unset or empty, and in
 * pages.
 *
 * @param name Its name.
 * @throws {Deno.errors.NotCapable} If it may not be read.
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
 * True where the variable `NO_COLOR` asks for plain text; Deno answers this
 * without a permission.
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

/** System and processor that a program runs on. */
export interface Platform {
  /** `linux`, `darwin`, `windows` or another name of Deno's; `page` in a page. */
  readonly os: string;
  /** `x86_64`, `aarch64` or another name of Deno's; `wasm` in a page. */
  readonly arch: string;
}

/** Deno's names of those that Node names otherwise. */
const NAMES: Readonly<Record<string, string>> = {
  arm64: "aarch64",
  win32: "windows",
  x64: "x86_64",
};

/**
 * Returns the system and the processor, by the names of `Deno.build`.
 *
 * @example
 * ```ts
 * import { platform } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(platform().os, Deno.build.os);
 * ```
 */
export function platform(): Platform {
  const { Deno, process } = runtime;
  if (Deno) return Deno.build;
  const { platform: os = "page", arch = "wasm" } = process ?? {};
  return { os: NAMES[os] ?? os, arch: NAMES[arch] ?? arch };
}

/**
 * Returns the bytes of memory and swap space, where they are known.
 *
 * @returns Undefined in pages, and without the permission to ask.
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
 * Shows any value on one line, for messages.
 *
 * @param value The value.
 * @returns It as Deno shows it; in Node and pages as JSON, where it has that.
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
    return String(value); // A cycle.
  }
}
