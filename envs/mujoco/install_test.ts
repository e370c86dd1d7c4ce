import { assertEquals } from "@std/assert";
import { strToU8, zipSync } from "fflate";
import { runInstall } from "../_install/run_install.ts";
import { libraryName } from "./_installed.ts";
import { MUJOCO_CORE } from "./_packages.ts";
import { INSTALLATION } from "./install.ts";

/** What an install says, with its exit code. */
async function said(args: string[]) {
  const out: string[] = [], error: string[] = [];
  const code = await runInstall(INSTALLATION, args, {
    out: (line) => out.push(line),
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
  assertEquals(refused.code, 1);
  assertEquals(refused.error[0].includes("has the SHA-256"), true);
  assertEquals(listed(folder).length, 2);
  const { code, out } = await said([...accepted, "--allow-other-version"]);
  assertEquals(code, 0);
  assertEquals(out.slice(-2), [`${dir}/${libraryName()}`, `${dir}/models`]);
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

Deno.test("each platform has a wheel whose hash is known", () => {
  for (
    const platform of [
      "linux-x86_64",
      "linux-aarch64",
      "darwin-aarch64",
      "windows-x86_64",
    ]
  ) {
    const file = MUJOCO_CORE.wheelFor(platform)!;
    assertEquals(MUJOCO_CORE.wheels[file].length, 64);
  }
  assertEquals(MUJOCO_CORE.wheelFor("darwin-x86_64"), undefined);
});
