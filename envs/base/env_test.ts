import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { checkEnv } from "../check_env.ts";
import { Env } from "./env.ts";
import { box, discrete } from "../spaces/constructors.ts";

/** A walk whose state is of several kinds. */
class Walk extends Env<Float32Array, number> {
  observationSpace = box({ low: -100, high: 100, shape: [2] });
  actionSpace = discrete(2);
  private at = new Float32Array(2);
  private visits: Record<string, number> = {};
  private isOver = true;
  private goal?: number;

  reset(options?: { seed?: number }): Float32Array {
    this.seed(options);
    this.at = Float32Array.of(this.random.integer(5), this.random.normal());
    this.goal = this.random.integer(2) === 0 ? undefined : 3;
    this.visits = {};
    this.isOver = false;
    return this.at.slice();
  }

  step(action: number) {
    if (this.isOver) throw new Error("Cannot step: call reset first");
    this.at[action] += this.random.uniform(-1, 1);
    const key = `${Math.round(this.at[0])}`;
    this.visits[key] = (this.visits[key] ?? 0) + 1;
    this.isOver = this.at[0] > 8;
    return {
      observation: this.at.slice(),
      reward: this.visits[key] + (this.goal ?? 0),
      terminated: this.isOver,
      truncated: false,
    };
  }
}

Deno.test("the base of an environment keeps all promises", () => {
  checkEnv(new Walk());
});

Deno.test("a seed restarts the random numbers, without one they continue", () => {
  const [one, other] = [new Walk(), new Walk()];
  // Without any seed, as with seed 0.
  assertEquals(one.reset(), other.reset({ seed: 0 }));
  assertEquals(one.reset(), other.reset());
  assertNotEquals(one.reset({ seed: 1 }), other.reset({ seed: 2 }));
});

Deno.test("the picture shows the numbers of the fields", () => {
  const env = new Walk();
  env.reset({ seed: 1 });
  const before = env.render({ width: 30, height: 20 });
  assertEquals([before.width, before.height], [30, 20]);
  for (let i = 0; i < 5; i++) env.step(1);
  assertNotEquals(env.render({ width: 30, height: 20 }), before);
});

Deno.test("a field that cannot be saved is named", () => {
  class Mapped extends Walk {
    seen = new Map();
  }
  const env = new Mapped();
  assertThrows(
    () => env.save(),
    TypeError,
    "Cannot save Mapped: its field 'seen' has ",
  );
  assertThrows(() => new Walk().load({ at: 1 }), TypeError, "'fields'");
});
