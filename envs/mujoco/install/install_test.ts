import { assertEquals } from "@std/assert";
import { strToU8, zipSync } from "fflate";
import { runInstall, wheelFor } from "@bellman/files/install";
import { pinned } from "../../../files/install/testdata/toys.ts";
import { libraryName, MUJOCO_CORE, MUJOCO_INSTALLATION } from "./installed.ts";

/** Installs wheels of our own; returns the lines and the exit code. */
async function said(wheels: Uint8Array[], args: string[]) {
  const out: string[] = [], error: string[] = [];
  const packages = MUJOCO_INSTALLATION.packages.map((it, i) => ({
    ...it,
    wheels: pinned(`${i}-any.whl`, wheels[i]),
  }));
  const code = await runInstall({ ...MUJOCO_INSTALLATION, packages }, args, {
    log: (line) => out.push(line),
    error: (line) => error.push(line),
  });
  return { code, out, error };
}

function wheel(files: Record<string, string>): Uint8Array {
  return zipSync(Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, strToU8(text)]),
  ));
}

/** The folders and files below a folder. */
function listed(dir: string, prefix = ""): string[] {
  return [...Deno.readDirSync(dir)].flatMap(({ name, isDirectory }) =>
    isDirectory
      ? listed(`${dir}/${name}`, `${prefix}${name}/`)
      : [`${prefix}${name}`]
  ).sort();
}

/** The library's name in a wheel. */
const NAMES: Record<string, string> = {
  windows: "mujoco.dll",
  darwin: "libmujoco.4.0.0.dylib",
};
const library = `mujoco/${NAMES[Deno.build.os] ?? "libmujoco.so.4.0.0"}`;

Deno.test("library, headers and models are taken from wheels", async () => {
  const folder = await Deno.makeTempDir(), dir = `${folder}/installed`;
  const core = `${folder}/mujoco_core-4.0.0-cp312-cp312-any.whl`;
  const gymnasium = `${folder}/gymnasium-1.4.0-py3-none-any.whl`;
  const models = "gymnasium/envs/mujoco/assets";
  const wheels = [
    wheel({
      [library]: "library",
      "mujoco/include/mujoco/mjmodel.h": "header",
      "mujoco/batch.py": "python",
      "mujoco_core-4.0.0.dist-info/licenses/": "",
      "mujoco_core-4.0.0.dist-info/licenses/LICENSE": "Apache",
    }),
    wheel({
      [`${models}/half_cheetah.xml`]: "model",
      "gymnasium/core.py": "python",
    }),
  ];
  await Deno.writeFile(core, wheels[0]);
  await Deno.writeFile(gymnasium, wheels[1]);
  const args = ["--wheel", core, "--wheel", gymnasium, "--dir", dir];
  assertEquals((await said(wheels, args)).code, 2);
  assertEquals(listed(folder).length, 2);
  const { code, out } = await said(wheels, [...args, "--accept-license"]);
  assertEquals(code, 0);
  assertEquals(out.slice(-3), [
    `library ${dir}/${libraryName()}`,
    `models ${dir}/models`,
    `To use them, set BELLMAN_MUJOCO_LIBRARY=${dir}/${libraryName()} and BELLMAN_MUJOCO_MODELS=${dir}/models`,
  ]);
  assertEquals(
    listed(dir),
    [
      "include/mujoco/mjmodel.h",
      "installed.json",
      libraryName(),
      "licenses/mujoco-core/LICENSE",
      "models/half_cheetah.xml",
    ].sort(),
  );
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a library of another system is not taken for this one's", () => {
  const foreign = [...Object.values(NAMES), "libmujoco.so.4.0.0"]
    .map((it) => `mujoco/${it}`).filter((it) => it !== library);
  assertEquals(MUJOCO_CORE.place(library), libraryName());
  for (const it of foreign) assertEquals(MUJOCO_CORE.place(it), undefined);
});

Deno.test("each platform has a wheel whose hash is known", () => {
  const platforms = {
    "linux-x86_64": "manylinux_2_28_x86_64.whl",
    "linux-aarch64": "manylinux_2_28_aarch64.whl",
    "darwin-aarch64": "macosx_11_0_arm64.whl",
    "windows-x86_64": "win_amd64.whl",
  };
  for (const [platform, end] of Object.entries(platforms)) {
    const file = wheelFor(MUJOCO_CORE, platform)!;
    assertEquals(file.endsWith(end), true);
    assertEquals(MUJOCO_CORE.wheels[file].length, 64);
  }
  assertEquals(wheelFor(MUJOCO_CORE, "darwin-x86_64"), undefined);
});
