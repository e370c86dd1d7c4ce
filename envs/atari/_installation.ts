import { tellThings } from "../_install/cache_folder.ts";
import type { Installation } from "../_install/run_install.ts";
import { atariFolder, LIBRARY_FILE } from "./_ale_library.ts";
import { ALE_PACKAGE, ROM_PACKAGE } from "./_packages.ts";
import { ATARI_GAMES } from "./roms.ts";

/** What is in the folder, and the variable that leads to it elsewhere. */
const THINGS = [
  { what: "library", file: LIBRARY_FILE, variable: ALE_PACKAGE.variable },
  { what: "ROMs", file: "roms", variable: ROM_PACKAGE.variable },
];

/** What `install-atari` sets up. */
export const ATARI_INSTALLATION: Installation = {
  title: "Atari",
  task: "install-atari",
  dir: atariFolder,
  packages: [ALE_PACKAGE, ROM_PACKAGE],
  notice: [
    "The games are their makers' property: the licence of the package covers the emulator, and whether you may use a ROM is for you to know.",
  ],
  required: {
    [ALE_PACKAGE.name]: [LIBRARY_FILE],
    [ROM_PACKAGE.name]: [...ATARI_GAMES.keys()].map((id) => `roms/${id}.bin`),
  },
  told: (dir) => tellThings(THINGS, dir, atariFolder()),
};
