import { assertEquals, assertThrows } from "@std/assert";
import { ATARI_GAMES } from "./roms.ts";
import { gameOfId } from "./_game_of_id.ts";

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
  for (
    const [id, nearest] of [
      ["ALE/SpaceInvader-v5", "space_invaders"],
      ["QbrtNoFrameskip-v4", "qbert"],
      ["mspacman", "ms_pacman"],
    ]
  ) {
    assertThrows(() => gameOfId(id), RangeError, `did you mean '${nearest}'?`);
  }
});
