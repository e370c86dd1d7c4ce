/**
 * Sets up the Arcade Learning Environment: its C library and ale-py's ROMs, from
 * the wheels that PyPI has of them. Doing it twice does nothing.
 *
 *     deno task install-atari [--accept-license] [--wheel PATH ...] [--dir DIR]
 *
 * Wheels are downloaded with `pip download`, or given by path where there is no
 * network; their hashes are checked in any case.
 */
import { existsSync } from "node:fs";
import { type Installation, runInstall } from "../_install/run_install.ts";
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
  told(dir) {
    const things = THINGS.filter(({ file }) => existsSync(`${dir}/${file}`));
    const lines = things.map(({ what, file }) => `${what} ${dir}/${file}`);
    if (things.length === 0 || dir === atariFolder()) return lines;
    const settings = things.map(({ file, variable }) =>
      `${variable}=${dir}/${file}`
    );
    return [...lines, `To use them, set ${settings.join(" and ")}`];
  },
};

if (import.meta.main) {
  Deno.exitCode = await runInstall(ATARI_INSTALLATION, Deno.args);
}
