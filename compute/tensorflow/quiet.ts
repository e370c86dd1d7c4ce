const SYMBOLS = {
  dup: { parameters: ["i32"], result: "i32" },
  dup2: { parameters: ["i32", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  creat: { parameters: ["buffer", "u32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

const C_LIBRARIES: Partial<Record<typeof Deno.build.os, string>> = {
  linux: "libc.so.6",
  darwin: "libSystem.dylib",
};

const STANDARD_ERROR = 2;

function openCLibrary(): Deno.DynamicLibrary<typeof SYMBOLS> | undefined {
  const name = C_LIBRARIES[Deno.build.os];
  try {
    return name ? Deno.dlopen(name, SYMBOLS) : undefined;
  } catch {
    // Another C library: what is run is heard.
    return undefined;
  }
}

/**
 * Runs something with the process's standard error sent nowhere. TensorFlow
 * greets there from native code as it starts, whatever log level is set.
 */
export function quietly<T>(run: () => T): T {
  const library = openCLibrary();
  if (!library) return run();
  const { dup, dup2, close, creat } = library.symbols;
  const saved = dup(STANDARD_ERROR);
  const nowhere = creat(new TextEncoder().encode("/dev/null\0"), 0o666);
  if (saved >= 0 && nowhere >= 0) dup2(nowhere, STANDARD_ERROR);
  if (nowhere >= 0) close(nowhere);
  try {
    return run();
  } finally {
    if (saved >= 0) {
      dup2(saved, STANDARD_ERROR);
      close(saved);
    }
    library.close();
  }
}
