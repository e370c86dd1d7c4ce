import type { Dataset, File, Group } from "npm:h5wasm@^0.10.3";

export type { Dataset, File, Group };

/** Opens an HDF5 file on the disk with npm's `h5wasm`, which is loaded here alone. */
export async function openHdf5(
  path: string,
  mode: "r" | "a" | "w",
): Promise<File> {
  try {
    // Deno fetches what is imported by name before a program starts: 4 MB.
    const url = import.meta.resolve("./h5wasm.ts");
    const { openFile }: typeof import("./h5wasm.ts") = await import(
      /* webpackIgnore: true */ /* @vite-ignore */ url
    );
    return await openFile(path, mode) as File;
  } catch (error) {
    const reason = reasonOf((error as Error).message);
    throw new Error(`Cannot open '${path}' as HDF5: ${reason}`);
  }
}

/** Takes the reason, in one line, out of a message with HDF5's stack of errors. */
export function reasonOf(message: string): string {
  const [first] = message.split("\n");
  return [...message.matchAll(/^ +#\d+: .*\(\): (.*)/gm)].at(-1)?.[1] ?? first;
}
