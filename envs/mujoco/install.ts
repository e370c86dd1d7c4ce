/**
 * Sets up MuJoCo's library and Gymnasium's models in the cache folder, from
 * wheels of PyPI whose hashes are known. Doing it twice does nothing.
 *
 *     deno task install-mujoco --accept-license [--wheel PATH ...] [--dir DIR]
 *
 * Prints where library and models are.
 */
import { existsSync } from "node:fs";
import { type Installation, runInstall } from "../_install/run_install.ts";
import { installedFolder, libraryName } from "./_installed.ts";
import { GYMNASIUM, MUJOCO_CORE } from "./_packages.ts";

/** What the task sets up. */
export const INSTALLATION: Installation = {
  title: "MuJoCo",
  task: "install-mujoco",
  dir: installedFolder,
  packages: [MUJOCO_CORE, GYMNASIUM],
  notice: [
    "Their licences come with them and are kept beside them.",
  ],
  required: {
    "mujoco-core": [libraryName(), "include/mujoco/mjmodel.h"],
    "gymnasium": ["models/half_cheetah.xml"],
  },
  told: (dir) =>
    [`${dir}/${libraryName()}`, `${dir}/models`].filter((it) => existsSync(it)),
};

if (import.meta.main) {
  Deno.exit(await runInstall(INSTALLATION, Deno.args));
}
