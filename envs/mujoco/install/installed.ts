import { platform } from "@bellman/files";
import {
  findInstalled,
  installCommand,
  installedFile,
  isFile,
  neededVariable,
} from "@bellman/files/installed";
import type { Installation, PinnedPackage } from "@bellman/files/install";
import wheels from "./wheels.json" with { type: "json" };

/** The version that is installed. */
const MUJOCO_VERSION = "4.0.0";

/** The folder that `install-mujoco` fills, below the cache folder. */
const FOLDER = `mujoco/${MUJOCO_VERSION}`;

/** Returns the library's name in that folder. */
export function libraryName(os: string = platform().os): string {
  if (os === "windows") return "mujoco.dll";
  return os === "darwin" ? "libmujoco.dylib" : "libmujoco.so";
}

/**
 * Finds the native library: that which `BELLMAN_MUJOCO_LIBRARY` names, or the
 * installed one.
 *
 * @returns Its absolute path.
 * @throws {RangeError} If the variable names no file.
 * @throws {Deno.errors.NotCapable} If it is not permitted to look.
 */
export function findLibrary(): string | undefined {
  return findInstalled(
    "MuJoCo library",
    "BELLMAN_MUJOCO_LIBRARY",
    `${FOLDER}/${libraryName()}`,
  );
}

/**
 * Finds the file of a model: a path as it is, a bare name among those of
 * `BELLMAN_MUJOCO_MODELS` or the installed ones.
 *
 * @throws {Error} If there is no such file.
 * @throws {Deno.errors.NotCapable} If it is not permitted to look.
 */
export function findModel(name: string): string {
  if (/[\\/]/.test(name)) {
    if (isFile(name)) return name;
    throw new Error(`Cannot find the model '${name}'`);
  }
  const folder = neededVariable("BELLMAN_MUJOCO_MODELS");
  const path = folder === undefined
    ? installedFile(`${FOLDER}/models/${name}`)
    : `${folder}/${name}`;
  if (path !== undefined && isFile(path)) return path;
  const where = folder === undefined ? "" : ` in '${folder}'`;
  throw new Error(
    `Cannot find the model '${name}'${where}: run '${
      installCommand(MUJOCO_INSTALLATION)
    }', set BELLMAN_MUJOCO_MODELS to a folder of models, or give xmlFile a path`,
  );
}

/** True where the installed models, or one's own in their place, are there. */
export function hasModels(): boolean {
  try {
    findModel("half_cheetah.xml");
    return true;
  } catch {
    return false;
  }
}

/** Headers, which say how the library's structs are laid out, in its wheel. */
const HEADER = /^mujoco\/(include\/mujoco\/[^/]+\.h)$/;
/** The library in the wheels of each system. */
const LIBRARIES: Readonly<Record<string, RegExp>> = {
  linux: /^mujoco\/libmujoco\.so[.\d]*$/,
  darwin: /^mujoco\/libmujoco[.\d]*\.dylib$/,
  windows: /^mujoco\/mujoco\.dll$/,
};
const LIBRARY = LIBRARIES[platform().os] ?? LIBRARIES.linux;
const MODEL = /^gymnasium\/envs\/mujoco\/assets\/([^/]+\.xml)$/;

/** MuJoCo's library with its headers. */
export const MUJOCO_CORE: PinnedPackage = {
  name: "mujoco-core",
  version: MUJOCO_VERSION,
  licence: "the simulation's library, Apache License 2.0",
  wheels: wheels["mujoco-core"],
  isNative: true,
  place(entry) {
    if (LIBRARY.test(entry)) return libraryName();
    return entry.match(HEADER)?.[1];
  },
  files: [libraryName(), "include/mujoco/mjmodel.h"],
  what: "library",
  at: libraryName(),
  variable: "BELLMAN_MUJOCO_LIBRARY",
};

/** Gymnasium's models. */
const GYMNASIUM: PinnedPackage = {
  name: "gymnasium",
  version: "1.4.0",
  licence: "the environments' models, MIT License",
  wheels: wheels.gymnasium,
  place(entry) {
    const model = entry.match(MODEL)?.[1];
    return model && `models/${model}`;
  },
  files: ["models/half_cheetah.xml"],
  what: "models",
  at: "models",
  variable: "BELLMAN_MUJOCO_MODELS",
};

/** The installation that `install-mujoco` sets up. */
export const MUJOCO_INSTALLATION: Installation = {
  title: "MuJoCo",
  task: "install-mujoco",
  module: "@bellman/envs/mujoco/install",
  folder: FOLDER,
  packages: [MUJOCO_CORE, GYMNASIUM],
  notice: "Their licences come with them and are kept beside them.",
};
