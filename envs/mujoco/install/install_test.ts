import { assertEquals } from "@std/assert";
import { strToU8, zipSync } from "fflate";
import { runInstall, wheelFor } from "@bellman/files/install";
import { libraryName, MUJOCO_CORE, MUJOCO_INSTALLATION } from "./installed.ts";

/** What an install says, with its exit code. */
async function said(args: string[]) {
  const out: string[] = [], error: string[] = [];
  const code = await runInstall(MUJOCO_INSTALLATION, args, {
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
  await Deno.writeFile(
    core,
    wheel({
      [library]: "library",
      "mujoco/include/mujoco/mjmodel.h": "header",
      "mujoco/batch.py": "python",
      "mujoco_core-4.0.0.dist-info/licenses/": "",
      "mujoco_core-4.0.0.dist-info/licenses/LICENSE": "Apache",
    }),
  );
  const models = "gymnasium/envs/mujoco/assets";
  await Deno.writeFile(
    gymnasium,
    wheel({
      [`${models}/half_cheetah.xml`]: "model",
      "gymnasium/core.py": "python",
    }),
  );
  const args = ["--wheel", core, "--wheel", gymnasium, "--dir", dir];
  assertEquals((await said(args)).code, 2);
  const accepted = [...args, "--accept-license"];
  const refused = await said(accepted);
  assertEquals(refused.code, 2);
  assertEquals(refused.error[0].includes("has the SHA-256"), true);
  assertEquals(listed(folder).length, 2);
  const { code, out } = await said([...accepted, "--allow-other-version"]);
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

Deno.test("a library of another system is not taken for this one's", async () => {
  const folder = await Deno.makeTempDir(), dir = `${folder}/installed`;
  const name = "mujoco_core-4.0.0-cp312-cp312-any.whl";
  const core = `${folder}/${name}`;
  const gymnasium = `${folder}/gymnasium-1.4.0-py3-none-any.whl`;
  const model = "gymnasium/envs/mujoco/assets/half_cheetah.xml";
  await Deno.writeFile(gymnasium, wheel({ [model]: "model" }));
  const install = async (files: Record<string, string>) => {
    const header = { "mujoco/include/mujoco/mjmodel.h": "header" };
    await Deno.writeFile(core, wheel({ ...header, ...files }));
    const args = ["--wheel", core, "--wheel", gymnasium, "--dir", dir];
    return await said([...args, "--accept-license", "--allow-other-version"]);
  };
  const foreign = [...Object.values(NAMES), "libmujoco.so.4.0.0"]
    .map((it) => `mujoco/${it}`).filter((it) => it !== library);
  for (const entry of foreign) {
    const { code, error } = await install({ [entry]: "foreign" });
    assertEquals([code, error], [2, [
      `Cannot install MuJoCo: the wheel '${name}' holds no ${libraryName()}`,
    ]]);
  }
  assertEquals(listed(folder).length, 2);
  const { code } = await install({
    [foreign[0]]: "foreign",
    [library]: "library",
    [foreign[1]]: "foreign",
  });
  const installed = await Deno.readTextFile(`${dir}/${libraryName()}`);
  assertEquals([code, installed], [0, "library"]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("the library of another machine is refused", async () => {
  const folder = await Deno.makeTempDir();
  const core = `${folder}/mujoco_core-4.0.0-cp312-cp312-win_arm64.whl`;
  await Deno.writeFile(core, wheel({ [library]: "library" }));
  const { code, error } = await said([
    ...["--wheel", core, "--dir", `${folder}/installed`],
    ...["--accept-license", "--allow-other-version"],
  ]);
  assertEquals([code, error.length], [2, 1]);
  assertEquals(error[0].includes("is for another platform, expected"), true);
  assertEquals(listed(folder).length, 1);
  await Deno.remove(folder, { recursive: true });
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
