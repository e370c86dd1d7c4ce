import { SeededRandom } from "../../random.ts";
import type { Ale } from "../emulator/ale.ts";

/** What can be seen of a few frames with random actions, as one text. */
export function play(ale: Ale, frames: number, seed: number): string {
  const random = new SeededRandom(seed);
  const actions = ale.game.minimalActions;
  const seen: string[] = [];
  for (let i = 0; i < frames; i++) {
    const reward = ale.act(actions[random.integer(actions.length)]);
    const { gameOver, lives, frameNumber, episodeFrameNumber } = ale;
    seen.push(
      [reward, gameOver, lives, frameNumber, episodeFrameNumber].join(" "),
      ale.ram().toHex(),
      ale.screen().toHex(),
    );
    if (gameOver) ale.reset();
  }
  return seen.join("\n");
}
