import { tellThings } from "../_install/installed_things.ts";
import type { Installation } from "../_install/run_install.ts";
import { installedFolder, libraryName } from "./_installed.ts";
import { GYMNASIUM, MUJOCO_CORE } from "./_packages.ts";

/** What is in the folder, and the variable that leads to it elsewhere. */
const THINGS = [
  { what: "library", file: libraryName(), variable: MUJOCO_CORE.variable },
  { what: "models", file: "models", variable: GYMNASIUM.variable },
];

/** What `install-mujoco` sets up. */
export const MUJOCO_INSTALLATION: Installation = {
  title: "MuJoCo",
  task: "install-mujoco",
  dir: installedFolder,
  packages: [MUJOCO_CORE, GYMNASIUM],
  notice: [
    "Their licences come with them and are kept beside them.",
  ],
  required: {
    [MUJOCO_CORE.name]: [libraryName(), "include/mujoco/mjmodel.h"],
    [GYMNASIUM.name]: ["models/half_cheetah.xml"],
  },
  told: (dir) => tellThings(THINGS, dir, installedFolder()),
};
