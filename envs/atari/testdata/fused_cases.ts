import { assertEquals } from "@std/assert";
import { SyncVecEnv } from "../../sync_vec_env.ts";
import { atari } from "../atari.ts";
import type { AtariOptions } from "../preprocessing_options.ts";
import { AtariVecEnv } from "../atari_vec_env.ts";
import { isAtariInstalled } from "../emulator/installed.ts";
import type { PreprocessingOptions } from "../preprocessing_options.ts";
import { assertSameBytes, assertSameCourse } from "./same_course.ts";

/** A game, its settings, and steps to play. */
export type FusedCase = readonly [
  id: string,
  options: PreprocessingOptions,
  steps: number,
];

const COPIES = 2;

/** Copies of a game in wrappers, one after the other. */
export function wrapped(id: string, options: AtariOptions): SyncVecEnv {
  return new SyncVecEnv(
    Array.from({ length: COPIES }, () => () => atari(id, options)),
  );
}

/** Tests that fused preprocessing gives the numbers of the wrappers. */
export function testFused([id, options, steps]: FusedCase): void {
  const name = `${id} ${JSON.stringify(options)}`;
  Deno.test({
    name: `fused, the numbers are those of the wrappers: ${name} [ALE]`,
    ignore: !isAtariInstalled(),
    fn() {
      const ours = new AtariVecEnv(id, { ...options, numEnvs: COPIES });
      const theirs = wrapped(id, options);
      assertEquals(ours.observationSpace, theirs.observationSpace);
      assertEquals(ours.stackedFrames, theirs.stackedFrames);
      assertEquals(ours.actionSpace, theirs.actionSpace);
      assertSameBytes(ours.reset({ seed: 7 }), theirs.reset({ seed: 7 }));
      assertSameCourse(ours, theirs, { steps, seed: 1 });
      assertSameBytes(ours.reset(), theirs.reset());
      assertSameCourse(ours, theirs, { steps: 9, seed: 2 });
      ours.close();
      theirs.close();
    },
  });
}
