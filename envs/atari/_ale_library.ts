import { resolve } from "node:path";
import {
  cacheFolder,
  installCommand,
  neededVariable,
} from "../_install/cache_folder.ts";
import { isFile } from "../_files.ts";

/** The functions that are called, as the library's C header declares them. */
const SYMBOLS = {
  ALE_new: { parameters: [], result: "pointer" },
  ALE_del: { parameters: ["pointer"], result: "void" },
  setLoggerMode: { parameters: ["i32"], result: "void" },
  setInt: { parameters: ["pointer", "buffer", "i32"], result: "void" },
  setFloat: { parameters: ["pointer", "buffer", "f32"], result: "void" },
  loadROM: { parameters: ["pointer", "buffer"], result: "void" },
  act: { parameters: ["pointer", "i32"], result: "i32" },
  game_over: { parameters: ["pointer"], result: "bool" },
  reset_game: { parameters: ["pointer"], result: "void" },
  lives: { parameters: ["pointer", "buffer"], result: "void" },
  getAvailableModesSize: { parameters: ["pointer", "i32"], result: "i32" },
  getAvailableModes: {
    parameters: ["pointer", "buffer", "i32"],
    result: "void",
  },
  setMode: { parameters: ["pointer", "i32"], result: "void" },
  getAvailableDifficultiesSize: { parameters: ["pointer"], result: "i32" },
  getAvailableDifficulties: {
    parameters: ["pointer", "buffer"],
    result: "void",
  },
  setDifficulty: { parameters: ["pointer", "i32"], result: "void" },
  getMinimalActionSize: { parameters: ["pointer"], result: "i32" },
  getMinimalActionSet: { parameters: ["pointer", "buffer"], result: "void" },
  getFrameNumber: { parameters: ["pointer"], result: "i32" },
  getEpisodeFrameNumber: { parameters: ["pointer"], result: "i32" },
  getScreenWidth: { parameters: ["pointer"], result: "i32" },
  getScreenHeight: { parameters: ["pointer"], result: "i32" },
  getScreen: { parameters: ["pointer", "buffer"], result: "void" },
  getScreenRGB: { parameters: ["pointer", "buffer"], result: "void" },
  getScreenGrayscale: { parameters: ["pointer", "buffer"], result: "void" },
  getRAM: { parameters: ["pointer", "buffer"], result: "void" },
  cloneSystemState: { parameters: ["pointer"], result: "pointer" },
  restoreSystemState: { parameters: ["pointer", "pointer"], result: "void" },
  deleteState: { parameters: ["pointer"], result: "void" },
  encodeStateLen: { parameters: ["pointer"], result: "i32" },
  encodeState: { parameters: ["pointer", "buffer", "i32"], result: "void" },
  decodeState: { parameters: ["buffer", "i32"], result: "pointer" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The library's functions. */
export type AleSymbols = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** The library's file name on this platform. */
export const LIBRARY_FILE: string = Deno.build.os === "darwin"
  ? "libale_c.dylib"
  : "libale_c.so";

/** Only errors are logged: what goes wrong without ending the process. */
const ERRORS_ONLY = 2;

/** The folder that `install-atari` fills. */
export function atariFolder(): string {
  return `${cacheFolder()}/atari`;
}

/** Where the library is looked for: a bare name is not one of the system's. */
export function libraryPath(): string {
  return resolve(
    neededVariable("BELLMAN_ALE_LIBRARY") ??
      `${atariFolder()}/${LIBRARY_FILE}`,
  );
}

function openLibrary(path: string): AleSymbols {
  if (!isFile(path)) {
    throw new Error(
      `Cannot find the Arcade Learning Environment at '${path}': run '${
        installCommand("atari")
      }', or set BELLMAN_ALE_LIBRARY to a libale_c`,
    );
  }
  try {
    return Deno.dlopen(path, SYMBOLS).symbols;
  } catch (error) {
    const why = (error as Error).message.split("\n")[0]
      .replaceAll("Could not open library: ", "");
    throw new Error(
      `Cannot open the Arcade Learning Environment at '${path}': ${why}`,
      { cause: error },
    );
  }
}

const opened = new Map<string, AleSymbols>();

/**
 * The library's functions; the library is opened once a process.
 *
 * @throws {Error} If it is not there or cannot be opened, in one line.
 * @throws {Deno.errors.NotCapable} If it is not permitted to look.
 */
export function aleLibrary(): AleSymbols {
  const path = libraryPath();
  let symbols = opened.get(path);
  if (symbols === undefined) {
    symbols = openLibrary(path);
    symbols.setLoggerMode(ERRORS_ONLY);
    opened.set(path, symbols);
  }
  return symbols;
}

/** A string as C wants it. */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}
