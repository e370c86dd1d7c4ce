/** Modes in which a library is loaded again to keep it (dlfcn.h of glibc and Apple). */
const RTLD_LAZY = 1;
const RTLD_NODELETE: Partial<Record<typeof Deno.build.os, number>> = {
  linux: 0x1000,
  darwin: 0x80,
};

/** Found through any library, as all depend on the one of C. */
const KEEP = {
  dlopen: {
    parameters: ["buffer", "i32"],
    result: "pointer",
    optional: true,
  },
} as const satisfies Deno.ForeignLibraryInterface;

/**
 * Encodes a text for a C function.
 *
 * @param text The text.
 * @returns Its bytes in UTF-8, and a zero.
 *
 * @example
 * ```ts
 * import { cString } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(cString("é"), Uint8Array.of(0xc3, 0xa9, 0));
 * ```
 */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}

/**
 * Opens a native library for the rest of the process, in Deno only. One that is
 * opened by `Deno.dlopen` alone is unloaded with the thread that opened it, and
 * the process crashes if it ends meanwhile, or if the library's threads still run.
 *
 * @param path File of the library.
 * @param symbols Its functions that are needed, as for `Deno.dlopen`.
 * @returns The functions.
 * @throws {Error} If it cannot be opened or lacks a function that is not optional.
 * @throws {Deno.errors.NotCapable} Without the permission `--allow-ffi`.
 *
 * @example
 * ```ts
 * import { openLibrary } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * if (Deno.build.os === "linux") {
 *   const { abs } = openLibrary("libc.so.6", {
 *     abs: { parameters: ["i32"], result: "i32" },
 *   });
 *   assertEquals(abs(-3), 3);
 * }
 * ```
 */
export function openLibrary<S extends Deno.ForeignLibraryInterface>(
  path: string,
  symbols: S,
): Deno.DynamicLibrary<S>["symbols"] {
  const library = Deno.dlopen(path, symbols);
  const noDelete = RTLD_NODELETE[Deno.build.os];
  if (noDelete !== undefined) {
    const { dlopen } = Deno.dlopen(path, KEEP).symbols;
    dlopen?.(cString(path), RTLD_LAZY | noDelete);
  }
  return library.symbols;
}
