import { assertEquals } from "@std/assert";
import { zipSync } from "fflate";
import { type PinnedPackage, runInstall } from "@bellman/files/install";
import {
  inFolder,
  pinned,
  RecordedOutput,
} from "../../files/install/testdata/toys.ts";
import {
  ATARI_INSTALLATION,
  isAtariInstalled,
  LIBRARY_FILE,
  libraryPath,
  romFolder,
} from "./emulator/installed.ts";
import { ATARI_GAMES, romFile } from "./emulator/roms.ts";

type Files = Record<string, Uint8Array>;

/** Wheels with the same files as PyPI's. */
async function wheels(): Promise<Record<string, Files>> {
  const roms: Files = {};
  for (const id of ATARI_GAMES.keys()) {
    roms[`ale_py/roms/${id}.bin`] = await Deno.readFile(
      `${romFolder()}/${id}.bin`,
    );
  }
  const library = await Deno.readFile(libraryPath());
  return {
    "multi_agent_ale_py-0-py3-none-any.whl": {
      [`multi_agent_ale_py/${LIBRARY_FILE}`]: library,
    },
    "ale_py-0-py3-none-any.whl": roms,
  };
}

Deno.test("install-atari sets up library and ROMs from given wheels [ALE]", {
  ignore: !isAtariInstalled(),
}, () =>
  inFolder(async (folder) => {
    const args = ["--accept-license"], packages: PinnedPackage[] = [];
    const all = Object.entries(await wheels());
    for (const [i, [name, files]] of all.entries()) {
      const bytes = zipSync(files, { level: 0 });
      await Deno.writeFile(`${folder}/${name}`, bytes);
      args.push("--wheel", `${folder}/${name}`);
      const of = ATARI_INSTALLATION.packages[i];
      packages.push({ ...of, wheels: pinned(name, bytes) });
    }
    const dir = `${folder}/atari`, output = new RecordedOutput();
    const code = await runInstall(
      { ...ATARI_INSTALLATION, packages },
      [...args, "--dir", dir],
      output,
    );
    assertEquals([code, output.errors], [0, []]);
    assertEquals(
      output.lines.at(-1),
      `To use them, set BELLMAN_ALE_LIBRARY=${dir}/${LIBRARY_FILE} and BELLMAN_ROMS=${dir}/roms`,
    );
    assertEquals(
      await Deno.readFile(`${dir}/${LIBRARY_FILE}`),
      await Deno.readFile(libraryPath()),
    );
    for (const game of ATARI_GAMES.values()) romFile(game, `${dir}/roms`);
  }));

Deno.test("install-atari asks for the licences before anything", async () => {
  const output = new RecordedOutput();
  await inFolder(async (folder) => {
    const args = ["--dir", `${folder}/atari`];
    assertEquals(await runInstall(ATARI_INSTALLATION, args, output), 2);
  });
  const licences = output.lines.join("\n");
  for (const name of ["multi-agent-ale-py 0.1.12", "ale-py 0.12.1", "ROM"]) {
    assertEquals(licences.includes(name), true);
  }
});
