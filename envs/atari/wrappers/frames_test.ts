import type { BoxSpace, Env } from "@bellman/types";
import { assert, assertEquals } from "@std/assert";
import { SeededRandom } from "../../random.ts";
import { box } from "../../spaces/constructors.ts";
import { contains } from "../../spaces/values.ts";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import { ChainEnv } from "../../toy/environments.ts";
import { TransformObservation } from "../../wrappers/transforms.ts";
import { AreaResizer } from "../preprocess/area_resizer.ts";
import { toGray } from "../preprocess/gray.ts";
import { plainGame, ScriptedAtari } from "../testdata/scripted_atari.ts";
import { Frameskip, PreprocessFrame } from "./frames.ts";
import { assertRefused } from "../../../tests/testdata/refused.ts";

const view = ScriptedAtari.view;

function brightest(...frames: Uint8Array[]): Uint8Array {
  return frames[0].map((_, i) => Math.max(...frames.map((it) => it[i])));
}

Deno.test("an action is taken for several frames, their rewards summed", () => {
  const game = new ScriptedAtari([plainGame(20)]);
  const env = new Frameskip(game, { skip: 4 });
  assertEquals(env.reset({ seed: 0 }), view(0, 0));
  const { reward, observation } = env.step(2);
  assertEquals(reward, 1 + 2 + 3 + 4);
  assertEquals(observation, brightest(view(0, 3), view(0, 4)));
  assertEquals(env.step(1).reward, 5 + 6 + 7 + 8);
  assertEquals(game.log, ["reset", 2, 2, 2, 2, 1, 1, 1, 1]);
});

Deno.test("the maximum is of the last two frames, of one without skipping", () => {
  for (const skip of [1, 2, 3, 7]) {
    const env = new Frameskip(new ScriptedAtari([plainGame(20)]), { skip });
    env.reset({ seed: 0 });
    const last = view(0, skip);
    assertEquals(
      env.step(0).observation,
      skip === 1 ? last : brightest(view(0, skip - 1), last),
    );
  }
});

Deno.test("an early end is told at once, with the frame in which it came", () => {
  for (const end of ["terminated", "truncated"] as const) {
    for (const length of [1, 2, 3]) {
      const frames = Array.from(
        { length },
        (_, i) => ({
          reward: 1,
          lives: 0,
          end: i === length - 1 ? end : undefined,
        }),
      );
      const game = new ScriptedAtari([{ lives: 0, frames }]);
      const env = new Frameskip(game);
      env.reset({ seed: 0 });
      const result = env.step(3);
      assertEquals(result.reward, length);
      assertEquals(
        [result.terminated, result.truncated],
        [end === "terminated", end === "truncated"],
      );
      assertEquals(result.observation, view(0, length));
    }
  }
});

Deno.test("an end in the last frame shows the maximum", () => {
  const env = new Frameskip(new ScriptedAtari([plainGame(4)]));
  env.reset({ seed: 0 });
  const { terminated, observation } = env.step(0);
  assertEquals(terminated, true);
  assertEquals(observation, brightest(view(0, 3), view(0, 4)));
});

Deno.test("what cannot be is refused", () => {
  assertRefused({
    "RangeError: Cannot take 0 frames in a step": () =>
      new Frameskip(new ScriptedAtari([]), { skip: 0 }),
    "TypeError: observations of a discrete space": () =>
      new Frameskip(new ChainEnv()),
  });
});

testSnapshot(
  "Frameskip",
  () => new Frameskip(new ScriptedAtari([plainGame(9), plainGame(6)])),
);

const SCREEN = { width: 160, height: 210 };

/** A chain that shows noise: another screen at each place. */
function screens(...shape: number[]): Env {
  const space = box({ low: 0, high: 255, shape, dtype: "uint8" });
  return new TransformObservation(new ChainEnv({ length: 5 }), (place) => {
    const random = new SeededRandom(place);
    const size = shape.reduce((product, it) => product * it, 1);
    return new Uint8Array(size).map(() => random.integer(256));
  }, { space });
}

for (const shape of [[210, 160, 3], [210, 160], [210, 160, 1]]) {
  Deno.test(`screens of shape [${shape}] become small and gray`, () => {
    const inner = screens(...shape),
      env = new PreprocessFrame(screens(...shape));
    const expected = (pixels: unknown) =>
      new AreaResizer(SCREEN, { width: 84, height: 84 }).resize(
        shape[2] === 3 ? toGray(pixels as Uint8Array) : pixels as Uint8Array,
      );
    assertEquals((env.observationSpace as BoxSpace).shape, [84, 84, 1]);
    const first = env.reset({ seed: 0 });
    assertEquals(first, expected(inner.reset({ seed: 0 })));
    const { observation } = env.step(0);
    assertEquals(observation, expected(inner.step(0).observation));
    assert(contains(env.observationSpace, observation));
    // What was returned belongs to the caller.
    assertEquals(first, expected(inner.reset({ seed: 0 })));
  });
}

Deno.test("frames may have any size", () => {
  const env = new PreprocessFrame(screens(20, 30, 3), {
    size: { width: 7, height: 5 },
  });
  assertEquals((env.observationSpace as BoxSpace).shape, [5, 7, 1]);
  assertEquals((env.reset({ seed: 0 }) as Uint8Array).length, 35);
});

Deno.test("what is no picture is refused", () => {
  for (const env of [new ChainEnv(), screens(4), screens(2, 2, 4)]) {
    assertRefused({
      "TypeError: Cannot preprocess frames of": () => new PreprocessFrame(env),
    });
  }
});

testSnapshot("PreprocessFrame", () => new PreprocessFrame(screens(9, 8, 3)));
