import { assertEquals, assertThrows } from "@std/assert";
import { ATARI_GAMES, atariGame, gameOfId, romFile } from "./roms.ts";
import { isAtariInstalled, romFolder } from "./installed.ts";

async function inFolder(run: (folder: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("atariGame knows names, modes and actions", () => {
  const names = ["tic_tac_toe_3d", "et", "up_n_down"].map((id) =>
    atariGame(id).name
  );
  assertEquals(names, ["TicTacToe3D", "Et", "UpNDown"]);
  const { modes, minimalActions } = atariGame("berzerk");
  assertEquals(modes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18]);
  assertEquals(minimalActions.length, 18);
});

Deno.test("romFile refuses files that are absent or another ROM", () =>
  inFolder((folder) => {
    const pong = atariGame("pong");
    const find = () => romFile(pong, folder);
    assertThrows(find, Error, `find the ROM '${folder}/pong.bin': run`);
    const path = `${folder}/pong.bin`;
    Deno.writeFileSync(path, new Uint8Array(7));
    assertThrows(find, Error, "as it has 7 bytes: the known ROM has 2048");
    Deno.writeFileSync(path, new Uint8Array(2048));
    assertThrows(find, Error, "as its MD5 is c99a74c555371a433d121f551d6c6398");
  }));

Deno.test("romFile says which permission it lacks", {
  permissions: { read: false },
}, () => {
  assertThrows(
    () => romFile(atariGame("pong"), "/roms"),
    Deno.errors.NotCapable,
    "Cannot read the ROM '/roms/pong.bin': it needs the permission --allow-read=/roms/pong.bin",
  );
});

Deno.test("romFile's path leads there from any folder [ALE]", {
  ignore: !isAtariInstalled(),
}, () => {
  const before = Deno.cwd(), folder = romFolder();
  Deno.chdir(folder);
  try {
    const path = romFile(atariGame("pong"), ".");
    assertEquals(path, `${Deno.cwd()}/pong.bin`);
  } finally {
    Deno.chdir(before);
  }
});

Deno.test("romFile finds the ROMs that are installed [ALE]", {
  ignore: !isAtariInstalled(),
}, () => {
  const path = romFile(atariGame("breakout"));
  assertEquals(path, `${romFolder()}/breakout.bin`);
});

Deno.test("every game is found by its ids and by its ROM's name", () => {
  for (const game of ATARI_GAMES.values()) {
    const { id, name } = game;
    for (
      const it of [id, `ALE/${name}-v5`, `${name}-v4`, `${name}NoFrameskip-v0`]
    ) {
      assertEquals(gameOfId(it), game);
    }
  }
});

Deno.test("a game that there is not is refused with the nearest one", () => {
  const cases = [
    ["ALE/SpaceInvader-v5", "space_invaders"],
    ["QbrtNoFrameskip-v4", "qbert"],
    ["mspacman", "ms_pacman"],
  ];
  for (const [id, nearest] of cases) {
    assertThrows(() => gameOfId(id), RangeError, `did you mean '${nearest}'?`);
  }
});
