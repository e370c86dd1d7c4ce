import type { Space, VecEnv, VecStep } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { Env } from "../base/env.ts";
import { box, dict, discrete } from "../spaces/constructors.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { ChannelsLast } from "./channels_last.ts";
import { FrameStack } from "./frame_stack.ts";

/** Images whose numbers tell their channel, row, column and time. */
class Numbered extends Env {
  readonly actionSpace = discrete(2);
  #time = 0;

  constructor(readonly observationSpace: Space) {
    super();
  }

  #look() {
    const numbersOf = (space: Space) => {
      const { shape } = space as { shape: readonly number[] };
      const length = shape.reduce((size, side) => size * side, 1);
      return Float32Array.from({ length }, (_, i) => i + this.#time / 8);
    };
    const { observationSpace: space } = this;
    if (space.type !== "dict") return numbersOf(space);
    return Object.fromEntries(
      Object.entries(space.spaces).map(([name, it]) => [name, numbersOf(it)]),
    );
  }

  reset(options?: { seed?: number }) {
    this.seed(options);
    this.#time = 0;
    return this.#look() as never;
  }

  step() {
    this.#time++;
    const isLast = this.#time === 3;
    const observation = this.#look() as never;
    return { observation, reward: 0, terminated: isLast, truncated: false };
  }
}

function images(...shape: number[]): Space {
  return box({ low: 0, high: 1e6, shape });
}

function vecOf(space: Space, numEnvs = 2): VecEnv {
  return new SyncVecEnv(
    Array.from({ length: numEnvs }, () => () => new Numbered(space)),
  );
}

Deno.test("each number keeps its channel, row and column, also after the end of an episode", () => {
  const side = fc.integer({ min: 5, max: 9 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), side, side, (c, h, w) => {
      const env = new ChannelsLast(vecOf(images(c, h, w)));
      assertEquals(env.observationSpace, images(h, w, c));
      const check = (found: VecStep["observations"], time: number) => {
        const numbers = found as Float32Array;
        assertEquals(numbers.length, 2 * c * h * w);
        numbers.forEach((it, i) => {
          const [k, x, y] = [
            i % c,
            Math.floor(i / c) % w,
            Math.floor(i / c / w) % h,
          ];
          assertEquals(it, (k * h + y) * w + x + time / 8);
        });
      };
      check(env.reset(), 0);
      for (const time of [1, 2]) {
        check(env.step(new Int32Array(2)).observations, time);
      }
      const last = env.step(new Int32Array(2));
      check(last.observations, 0);
      check(last.finalObservations, 3);
    }),
    { numRuns: 20 },
  );
});

Deno.test("bounds of each pixel move with it, and gray images get a channel", () => {
  const bounds = Array.from({ length: 12 }, (_, i) => i);
  const { observationSpace } = new ChannelsLast(
    vecOf(box({ low: bounds, high: 99, shape: [2, 2, 3] })),
  );
  const wanted = [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11];
  assertEquals(
    observationSpace,
    box({ low: wanted, high: 99, shape: [2, 3, 2] }),
  );
  const gray = new ChannelsLast(vecOf(images(5, 4)));
  assertEquals(gray.observationSpace, images(5, 4, 1));
  assertEquals(
    (gray.reset() as Float32Array).slice(0, 3),
    Float32Array.of(0, 1, 2),
  );
});

Deno.test("of a dict the parts that are images are turned, and observations without any are refused", () => {
  const env = new ChannelsLast(
    vecOf(
      dict({
        camera: images(3, 40, 50),
        depth: images(40, 40),
        joints: images(7),
      }),
      1,
    ),
  );
  assertEquals(
    env.observationSpace,
    dict({
      camera: images(40, 50, 3),
      depth: images(40, 40, 1),
      joints: images(7),
    }),
  );
  const { camera, joints } = env.reset() as Record<string, Float32Array>;
  assertEquals([...camera.slice(0, 4)], [0, 2000, 4000, 1]);
  assertEquals([...joints], [0, 1, 2, 3, 4, 5, 6]);
  for (
    const space of [images(84, 84, 3), images(4), dict({ joints: images(7) })]
  ) {
    assertThrows(
      () => new ChannelsLast(vecOf(space)),
      TypeError,
      "expected images [channels, height, width]",
    );
  }
});

Deno.test("frames of images are stacked along their channels, wherever these are", () => {
  const [first, gray, last] = [[3, 40, 50], [40, 50], [40, 50, 3]]
    .map((shape) => new FrameStack(vecOf(images(...shape), 1), { size: 2 }));
  assertEquals(first.observationSpace, images(6, 40, 50));
  assertEquals(gray.observationSpace, images(40, 50, 2));
  assertEquals(last.observationSpace, images(40, 50, 6));
  assertEquals([first, gray, last].map((it) => it.stackedFrames), [
    undefined,
    2,
    2,
  ]);
  const seen = (env: VecEnv) => {
    env.reset();
    return env.step(new Int32Array(1)).observations as Float32Array;
  };
  const frames = seen(first);
  assertEquals([frames[1], frames[6001]], [1, 1.125]);
  assertEquals([...seen(gray).slice(0, 4)], [0, 0.125, 1, 1.125]);
  // Turned before or after, the pixels are the same.
  const turned = new FrameStack(
    new ChannelsLast(vecOf(images(3, 40, 50), 1)),
    { size: 2 },
  );
  const after = new ChannelsLast(
    new FrameStack(vecOf(images(3, 40, 50), 1), { size: 2 }),
  );
  assertEquals(
    seen(turned),
    (after.reset(), after.step(new Int32Array(1)).observations) as Float32Array,
  );
});
