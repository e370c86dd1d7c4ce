/** More games and settings than those beside `AtariVecEnv`. */
import {
  type FusedCase,
  testFused,
} from "../../envs/atari/testdata/fused_cases.ts";

const CASES: readonly FusedCase[] = [
  ["ALE/Breakout-v5", {}, 90],
  ["PongNoFrameskip-v4", {
    noopMax: 0,
    frameStack: 1,
    size: { width: 21, height: 30 },
  }, 30],
  // European: higher screens, and other colours.
  ["ALE/AirRaid-v5", {}, 30],
  ["ALE/MsPacman-v5", { fullActionSpace: true, mode: 1 }, 60],
  ["ALE/BeamRider-v5", { maxNumFramesPerEpisode: 30, noopMax: 40 }, 30],
];

for (const it of CASES) testFused(it);
