/**
 * Time of one picture of 84 by 84 of two screens of an Atari: fused, and one
 * operation after the other. At most 40 us are wanted.
 */
import { SeededRandom } from "../../random.ts";
import { AreaResizer } from "./area_resizer.ts";
import { toGray } from "./gray.ts";
import { FRAME, SCREEN, ScreenPreprocessor } from "./_screen_preprocessor.ts";

const ROW = 160;

/** Bands of background and small things that move. */
function likeGame(): ScreenPreprocessor {
  const preprocessor = new ScreenPreprocessor();
  preprocessor.screens.forEach((screen, i) => {
    screen.fill(0x90).fill(0xc6, 60 * ROW, 180 * ROW);
    for (let thing = 0; thing < 20; thing++) {
      const at = (8 * thing + 10) * ROW + 7 * thing + i;
      for (let y = 0; y < 8; y++) {
        screen.fill(0x0e, at + ROW * y, at + ROW * y + 6);
      }
    }
  });
  return preprocessor;
}

/** Two screens that differ nearly everywhere: the slowest case. */
function noise(): ScreenPreprocessor {
  const preprocessor = new ScreenPreprocessor();
  const random = new SeededRandom(0);
  for (const screen of preprocessor.screens) {
    for (let i = 0; i < screen.length; i++) screen[i] = 2 * random.integer(128);
  }
  return preprocessor;
}

const game = likeGame(), noisy = noise();

Deno.bench("fused, like a game", { group: "frame", baseline: true }, () => {
  game.process();
});

Deno.bench("fused, noise", () => {
  noisy.process();
});

const colors = new Uint8Array(2 * 3 * ROW * SCREEN.height);
const [before, now] = [0, 1].map((i) =>
  colors.subarray(i * colors.length / 2, (i + 1) * colors.length / 2)
);
const brightest = new Uint8Array(before.length);
const gray = new Uint8Array(ROW * SCREEN.height);
const frame = new Uint8Array(FRAME.width * FRAME.height);
const resizer = new AreaResizer(SCREEN, FRAME);

Deno.bench("one operation after the other", { group: "frame" }, () => {
  for (let i = 0; i < brightest.length; i++) {
    brightest[i] = Math.max(before[i], now[i]);
  }
  resizer.resize(toGray(brightest, gray), frame);
});
