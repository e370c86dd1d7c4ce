/** Flags of `dlopen` that keep a library loaded (dlfcn.h of glibc and Apple). */
const RTLD_LAZY = 1;
const RTLD_NODELETE: Partial<Record<typeof Deno.build.os, number>> = {
  linux: 0x1000,
  darwin: 0x80,
};

/** Functions of the C library, found through any library. */
const KEEP = {
  dlopen: {
    parameters: ["buffer", "i32"],
    result: "pointer",
    optional: true,
  },
} as const satisfies Deno.ForeignLibraryInterface;

/**
 * Encodes a text as a C string.
 *
 * @param text The text.
 * @returns UTF-8 with a final zero.
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
 * Opens a native library for the rest of the process, in Deno only. `Deno.dlopen` alone
 * unloads it with the thread that opened it: the process crashes if that thread ends
 * while the library is in use or its threads still run.
 *
 * @param path File of the library.
 * @param symbols Needed functions, as for `Deno.dlopen`.
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
