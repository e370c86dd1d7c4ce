/**
 * Sets up the Arcade Learning Environment: its C library and ale-py's ROMs, from
 * the wheels that PyPI has of them. Doing it twice does nothing.
 *
 *     deno task install-atari [--accept-license] [--wheel PATH ...] [--dir DIR]
 *
 * Wheels are downloaded with `pip download`, or given by path where there is no
 * network; their hashes are checked in any case.
 */
import { type Installation, runInstall } from "../_install/run_install.ts";
import { atariFolder, LIBRARY_FILE } from "./_ale_library.ts";
import { ALE_PACKAGE, ROM_PACKAGE } from "./_packages.ts";
import { ATARI_GAMES } from "./roms.ts";

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
    const lines = [`library ${dir}/${LIBRARY_FILE}`, `ROMs ${dir}/roms`];
    if (dir === atariFolder()) return lines;
    return [
      ...lines,
      `To use them, set BELLMAN_ALE_LIBRARY=${dir}/${LIBRARY_FILE} and BELLMAN_ROMS=${dir}/roms`,
    ];
  },
};

if (import.meta.main) {
  Deno.exitCode = await runInstall(ATARI_INSTALLATION, Deno.args);
}
