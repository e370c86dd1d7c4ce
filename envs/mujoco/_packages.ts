import type { PinnedPackage } from "../_install/pinned_package.ts";
import { libraryName, MUJOCO_VERSION } from "./_installed.ts";

const WHEEL = `mujoco_core-${MUJOCO_VERSION}-cp312-cp312`;

/** The wheels of each platform; one Python's is as good as another's. */
const LIBRARY_WHEELS: Readonly<Record<string, string>> = {
  "linux-x86_64": `${WHEEL}-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl`,
  "linux-aarch64": `${WHEEL}-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl`,
  "darwin-aarch64": `${WHEEL}-macosx_11_0_arm64.whl`,
  "windows-x86_64": `${WHEEL}-win_amd64.whl`,
};
const HASHES: Readonly<Record<string, string>> = {
  "linux-x86_64":
    "1cea4f32972ade944fef7a9b586272a83352bf0c6404455d7ea56d7f9edaa136",
  "linux-aarch64":
    "4f132a6ae0de32ebb56058f7d31f7a489226210882957014ba54d9289cf1a674",
  "darwin-aarch64":
    "7e8386c3f26b8a6e944b4698d2498877b5693971e598dec8954db8743e4cbb4b",
  "windows-x86_64":
    "561c94e59b8cc36dd56ec10c16e38ef715813ab6891ac1e4164ba880fb878657",
};

/** The headers that tell how the library's structs are laid out. */
const HEADER = /^mujoco\/(include\/mujoco\/[^/]+\.h)$/;
/** The library in the wheels for each system. */
const LIBRARIES: Readonly<Record<string, RegExp>> = {
  linux: /^mujoco\/libmujoco\.so[.\d]*$/,
  darwin: /^mujoco\/libmujoco[.\d]*\.dylib$/,
  windows: /^mujoco\/mujoco\.dll$/,
};
const LIBRARY = LIBRARIES[Deno.build.os] ?? LIBRARIES.linux;
const MODEL = /^gymnasium\/envs\/mujoco\/assets\/([^/]+\.xml)$/;

/** MuJoCo's library with its headers. */
export const MUJOCO_CORE: PinnedPackage = {
  name: "mujoco-core",
  version: MUJOCO_VERSION,
  licence: "the simulation's library, Apache License 2.0",
  wheels: Object.fromEntries(
    Object.entries(LIBRARY_WHEELS).map(([key, file]) => [file, HASHES[key]]),
  ),
  wheelFor: (platform) => LIBRARY_WHEELS[platform],
  isNative: true,
  place(entry) {
    if (LIBRARY.test(entry)) return libraryName();
    return entry.match(HEADER)?.[1];
  },
  variable: "BELLMAN_MUJOCO_LIBRARY",
};

/** Gymnasium's models. */
export const GYMNASIUM: PinnedPackage = {
  name: "gymnasium",
  version: "1.4.0",
  licence: "the environments' models, MIT License",
  wheels: {
    "gymnasium-1.4.0-py3-none-any.whl":
      "1cb947c59e7c72d8eabb2c2274c00cd20948e69f8452a9ef4092223be24fdf0e",
  },
  wheelFor: () => "gymnasium-1.4.0-py3-none-any.whl",
  place(entry) {
    const model = entry.match(MODEL)?.[1];
    return model && `models/${model}`;
  },
  variable: "BELLMAN_MUJOCO_MODELS",
};
