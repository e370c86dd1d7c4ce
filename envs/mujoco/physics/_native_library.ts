import { foreign, optional } from "../../_foreign.ts";
import { openLibrary } from "@bellman/files";
import { tellPermission } from "@bellman/files/installed";
import { type CLayout, readCLayout } from "./_c_layout.ts";

/** The part of MuJoCo's C interface that the environments need. */
const SYMBOLS = {
  mj_version: foreign("i32"),
  mj_versionString: foreign("pointer"),
  mj_loadXML: foreign("pointer", "buffer", "buffer", "buffer", "i32"),
  mj_defaultVFS: foreign("void", "buffer"),
  mj_addBufferVFS: foreign("i32", "buffer", "buffer", "buffer", "i32"),
  mj_deleteVFS: foreign("void", "buffer"),
  mj_deleteModel: foreign("void", "pointer"),
  mj_makeData: foreign("pointer", "pointer"),
  mj_deleteData: foreign("void", "pointer"),
  mj_resetData: foreign("void", "pointer", "pointer"),
  mj_forward: foreign("void", "pointer", "pointer"),
  mj_step: foreign("void", "pointer", "pointer"),
  mj_rnePostConstraint: foreign("void", "pointer", "pointer"),
  mj_stateSize: foreign("i32", "pointer", "i32"),
  mj_getState: foreign("void", "pointer", "pointer", "buffer", "i32"),
  mj_setState: foreign("void", "pointer", "pointer", "buffer", "i32"),
  mj_name2id: foreign("i32", "pointer", "i32", "buffer"),
  mj_getTotalmass: foreign("f64", "pointer"),
  mj_local2Global: foreign(
    "void",
    "pointer",
    "buffer",
    "buffer",
    "buffer",
    "buffer",
    "i32",
    "u8",
  ),
  // Batches trap errors; versions before 4 have none.
  mjb_makeBatch: optional(
    foreign("pointer", "pointer", "i32", "buffer", "buffer", "i32"),
  ),
  mjb_deleteBatch: optional(foreign("void", "pointer")),
  mjb_forward: optional(foreign("i32", "pointer", "pointer", "i32", "i32")),
  mjb_error: optional(foreign("pointer", "pointer", "i32")),
  // Addresses: of a variable that holds a function, and of a function.
  mju_user_warning: { type: "pointer" },
  mju_str2Type: { type: "pointer" },
} as const;

/** The functions of an opened library. */
export type MujocoSymbols = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** An opened library. */
export interface NativeLibrary {
  /** Its file. */
  readonly path: string;
  /** Its version, such as `4.0.0`. */
  readonly version: string;
  /** Its functions. */
  readonly symbols: MujocoSymbols;
  /** Its structs and constants. */
  readonly layout: CLayout;
}

/** In the order in which they build on each other; some versions lack some. */
const HEADERS = [
  ...["mjtnum.h", "mjtype.h", "mjthread.h", "mjmodel.h", "mjdata.h"],
  "mujoco.h",
];
const ACCEPTED = /^(3\.([3-9]|\d\d+)|4\.\d+)\./;
const ACCEPTED_TEXT = "3.3 or newer, below 5";

const opened = new Map<string, NativeLibrary>();

function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) {
    return "it needs the permission --allow-ffi";
  }
  return (error as Error).message.split("\n")[0];
}

function open(path: string): MujocoSymbols {
  try {
    return openLibrary(path, SYMBOLS);
  } catch (error) {
    throw new Error(
      `Cannot open the MuJoCo library '${path}': ${reasonOf(error)}`,
    );
  }
}

function headerText(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    tellPermission(error, `read '${path}'`, `--allow-read=${path}`);
    return undefined;
  }
}

/** Headers are in a wheel next to the library, in a release one folder above. */
function readHeaders(library: string): string[] {
  const folder = library.replaceAll("\\", "/").replace(/\/?[^/]*$/, "") || ".";
  for (const include of [`${folder}/include`, `${folder}/../include`]) {
    const texts = HEADERS.map((it) => headerText(`${include}/mujoco/${it}`));
    if (texts.at(-1) !== undefined) {
      return texts.filter((text) => text !== undefined);
    }
  }
  throw new Error(
    `Cannot use the MuJoCo library '${library}': expected its headers in '${folder}/include/mujoco'`,
  );
}

/**
 * Refuses versions that the environments have not been run on.
 *
 * @throws {Error} If it is another one.
 */
export function checkVersion(path: string, version: string): void {
  if (ACCEPTED.test(version)) return;
  throw new Error(
    `Cannot use the MuJoCo library '${path}' of version ${version}: expected ${ACCEPTED_TEXT}`,
  );
}

function checkHeaders(path: string, version: number, layout: CLayout): void {
  const told = layout.constants.get("mjVERSION_HEADER");
  if (told === version) return;
  throw new Error(
    `Cannot use the MuJoCo library '${path}': it is of version ${version}, the headers beside it of ${told}`,
  );
}

/**
 * Keeps warnings off the screen and out of a log file that would be left in the
 * working folder; simulations count them. A function of our own must not be
 * called from other threads, so a harmless one of the library takes the text:
 * it looks it up among the names of kinds of objects.
 */
function silence({ mju_user_warning, mju_str2Type }: MujocoSymbols): void {
  if (mju_user_warning === null || mju_str2Type === null) return;
  const variable = Deno.UnsafePointerView.getArrayBuffer(mju_user_warning, 8);
  new BigUint64Array(variable)[0] = Deno.UnsafePointer.value(mju_str2Type);
}

/**
 * Opens a MuJoCo library and reads how its structs are laid out.
 *
 * @param path The library's file, with its headers in `include/mujoco`.
 * @throws {Error} If it cannot be opened, has no headers or is of a version that
 * is not accepted.
 */
export function openNativeLibrary(path: string): NativeLibrary {
  const known = opened.get(path);
  if (known !== undefined) return known;
  const symbols = open(path);
  const text = symbols.mj_versionString();
  const version = text === null
    ? "unknown"
    : Deno.UnsafePointerView.getCString(text);
  checkVersion(path, version);
  const layout = readCLayout(readHeaders(path));
  checkHeaders(path, symbols.mj_version(), layout);
  silence(symbols);
  const library = { path, version, symbols, layout };
  opened.set(path, library);
  return library;
}

const ERROR_BYTES = 1024;

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).split("\0")[0];
}

/**
 * Computes a model's first state where an error cannot end the process, which it
 * does elsewhere: a model may be sound in itself and yet allow itself too little
 * memory.
 *
 * @param symbols The library's functions.
 * @param layout Its constants.
 * @param model The model.
 * @returns The problem; undefined for none, or if the library is too old to
 * tell.
 */
export function tryModel(
  symbols: MujocoSymbols,
  { constants }: CLayout,
  model: Deno.PointerObject,
): string | undefined {
  const { mjb_makeBatch, mjb_forward, mjb_error, mjb_deleteBatch } = symbols;
  const stage = constants.get("mjSTAGE_ACC");
  if (
    mjb_makeBatch === null || mjb_forward === null || mjb_error === null ||
    mjb_deleteBatch === null || stage === undefined
  ) return undefined;
  // Its settings: one thread, and nothing kept between calls.
  const config = Int32Array.of(1, 0), error = new Uint8Array(ERROR_BYTES);
  const batch = mjb_makeBatch(model, 1, config, error, ERROR_BYTES);
  if (batch === null) return textOf(error);
  try {
    if (mjb_forward(batch, null, 0, stage) === 0) return undefined;
    const text = mjb_error(batch, 0);
    return text === null
      ? "its first state cannot be computed"
      : Deno.UnsafePointerView.getCString(text);
  } finally {
    mjb_deleteBatch(batch);
  }
}
