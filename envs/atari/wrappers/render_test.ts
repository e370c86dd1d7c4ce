import type { RgbImage } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import { make } from "../../mod.ts";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import { plainGame, ScriptedAtari } from "../testdata/scripted_atari.ts";
import { type Clock, Render } from "./render.ts";

/** A clock that only waiting moves, and what was waited for. */
class FakeClock implements Clock {
  time = 0;
  readonly waits: number[] = [];

  now(): number {
    return this.time;
  }

  wait(milliseconds: number): void {
    this.waits.push(milliseconds);
    this.time += milliseconds;
  }
}

const game = () => new ScriptedAtari([plainGame(9)]);

Deno.test("each reset and each step is drawn, after it was taken", () => {
  const shown: RgbImage[] = [];
  const env = new Render(game(), (it) => shown.push(it));
  env.reset({ seed: 0 });
  env.step(0);
  env.step(0);
  env.reset();
  assertEquals(
    shown.map(({ data }) => data),
    [[0, 0], [0, 1], [0, 2], [1, 0]].map(([g, f]) => ScriptedAtari.view(g, f)),
  );
});

Deno.test("pictures are shown at a steady rate", () => {
  const clock = new FakeClock();
  const env = new Render(game(), () => {}, { framesPerSecond: 50, clock });
  env.reset({ seed: 0 });
  assertEquals(clock.waits, []);
  env.step(0);
  // A step that takes 15 of the 20 ms.
  clock.time += 15;
  env.step(0);
  assertEquals(clock.waits, [20, 5]);
  // A late one shortens no other.
  clock.time += 90;
  env.step(0);
  env.step(0);
  assertEquals(clock.waits, [20, 5, 20]);
});

Deno.test("pictures have the size that is asked for", () => {
  const shown: RgbImage[] = [];
  const picture = { width: 30, height: 20 };
  const env = new Render(make("CartPole-v1"), (it) => shown.push(it), {
    picture,
  });
  env.reset({ seed: 0 });
  assertEquals([shown[0].width, shown[0].height], [30, 20]);
});

Deno.test("without a rate nothing is waited for", () => {
  const clock = new FakeClock();
  const env = new Render(game(), () => {}, { clock });
  env.reset({ seed: 0 });
  env.step(0);
  assertEquals(clock.waits, []);
});

Deno.test("a rate that cannot be is refused", () => {
  for (const framesPerSecond of [0, -1, NaN]) {
    assertThrows(
      () => new Render(game(), () => {}, { framesPerSecond }),
      RangeError,
      `Cannot show ${framesPerSecond} pictures a second`,
    );
  }
});

testSnapshot("Render", () => new Render(game(), () => {}));
