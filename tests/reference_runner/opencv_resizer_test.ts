import { AreaResizer } from "@bellman/envs/atari";
import { assert, assertEquals } from "@std/assert";
import { OpencvResizer } from "./opencv_resizer.ts";
import cases from "./testdata/opencv_area.json" with { type: "json" };

/** Bytes of a linear congruential generator. */
function noise(length: number, seed: number): Uint8Array {
  let state = seed;
  return new Uint8Array(length).map(() => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return state >>> 24;
  });
}

Deno.test("exact averages are OpenCV's, but where its float32 sums of ties fall otherwise", () => {
  let different = 0;
  for (const { seed, from, to, channels, pixels } of cases) {
    const picture = noise(from.width * from.height * channels, seed);
    const opencv = new OpencvResizer(from, to, channels).resize(picture);
    const exact = new AreaResizer(from, to, { channels }).resize(picture);
    assertEquals(opencv.toHex(), pixels, `seed ${seed}`);
    different += opencv.filter((it, i) => it !== exact[i]).length;
    assert(opencv.every((it, i) => Math.abs(it - exact[i]) <= 1));
  }
  assert(different > 0);
});
