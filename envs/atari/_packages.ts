import type { PinnedPackage } from "../_install/pinned_package.ts";
import { LIBRARY_FILE } from "./_ale_library.ts";
import { ROM_VERSION } from "./_rom_table.ts";
import { ALE_WHEELS, ROM_WHEELS } from "./_wheel_hashes.ts";

/** The wheel that a library is taken from, whatever Python the machine has. */
const LIBRARY_OF: Record<string, string> = {
  "linux-x86_64":
    "multi_agent_ale_py-0.1.12-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl",
  "darwin-aarch64":
    "multi_agent_ale_py-0.1.12-cp311-cp311-macosx_11_0_arm64.whl",
};

/** The emulator: of PyPI's packages, the one with a C interface. */
export const ALE_PACKAGE: PinnedPackage = {
  name: "multi-agent-ale-py",
  version: "0.1.12",
  licence:
    "the Arcade Learning Environment as a C library, under the GNU General Public License, version 2",
  wheels: ALE_WHEELS,
  wheelFor: (platform) => LIBRARY_OF[platform],
  isNative: true,
  place: (entry) =>
    entry === `multi_agent_ale_py/${LIBRARY_FILE}` ? LIBRARY_FILE : undefined,
  variable: "BELLMAN_ALE_LIBRARY",
};

/** The ROMs, which are the same in the wheels of all platforms. */
export const ROM_PACKAGE: PinnedPackage = {
  name: "ale-py",
  version: ROM_VERSION,
  licence:
    "ROMs of Atari 2600 games, in a package under the GNU General Public License, version 2",
  wheels: ROM_WHEELS,
  wheelFor: () =>
    "ale_py-0.12.1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
  place: (entry) => entry.match(/^ale_py\/(roms\/\w+\.bin)$/)?.[1],
  variable: "BELLMAN_ROMS",
};
