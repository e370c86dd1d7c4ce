import type { SpaceValue } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
} from "../spaces/constructors.ts";
import { contains } from "../spaces/values.ts";
import { IdentityEnv } from "./identity_env.ts";

const SPACES = [
  discrete(4),
  discrete(3, { start: -1 }),
  multiDiscrete([3, 4]),
  multiBinary(5),
  box({ low: -1, high: 1, shape: [3] }),
];

for (const actionSpace of SPACES) {
  const name = JSON.stringify(actionSpace);

  Deno.test(`${name}: giving back what is shown pays best`, () => {
    const env = new IdentityEnv({ actionSpace });
    let shown = env.reset({ seed: 0 });
    const first = shown;
    let changes = 0;
    for (let i = 0; i < 50; i++) {
      const result = env.step(shown);
      const isBox = actionSpace.type === "box";
      assertEquals(result.reward, isBox ? -0 : 1);
      assertEquals([result.terminated, result.truncated], [false, false]);
      assert(contains(actionSpace, result.observation));
      if (String(result.observation) !== String(shown)) changes++;
      shown = result.observation;
    }
    assert(changes > 20);
    assertEquals(env.reset({ seed: 0 }), first);
  });

  Deno.test(`${name}: goes on from a snapshot`, () => {
    const env = new IdentityEnv({ actionSpace });
    let shown = env.reset({ seed: 1 });
    const snapshot = structuredClone(env.save());
    const play = (it: IdentityEnv, from: SpaceValue) =>
      Array.from({ length: 20 }, () => {
        const result = it.step(from);
        from = result.observation;
        return result;
      });
    const wanted = play(env, shown);
    const other = new IdentityEnv({ actionSpace });
    other.load(snapshot);
    assertEquals(play(other, shown), wanted);
    shown = other.reset({ seed: 1 });
    assertEquals(other.render({ width: 40, height: 20 }).data.length, 2400);
  });
}

Deno.test("Another action pays less", () => {
  const env = new IdentityEnv({ actionSpace: discrete(4) });
  const shown = env.reset({ seed: 0 }) as number;
  assertEquals(env.step((shown + 1) % 4).reward, 0);
  const bits = new IdentityEnv({ actionSpace: multiBinary(2) });
  const pair = bits.reset({ seed: 0 }) as Uint8Array;
  assertEquals(bits.step(Uint8Array.of(pair[0], 1 - pair[1])).reward, 0);
});

Deno.test("A box pays minus the squared distance", () => {
  const env = new IdentityEnv({ actionSpace: SPACES[4] });
  const shown = env.reset({ seed: 0 }) as Float32Array;
  const off = shown.map((it, i) => it + [0.5, -0.25, 0][i]);
  assertAlmostEquals(env.step(off).reward, -0.3125, 1e-6);
});

Deno.test("What the caller does to an observation changes nothing", () => {
  const env = new IdentityEnv({ actionSpace: SPACES[4] });
  const shown = env.reset({ seed: 0 }) as Float32Array;
  const given = shown.slice();
  shown.fill(1);
  assertNotEquals(shown, given);
  assertEquals(env.step(given).reward, -0);
});

Deno.test("What does not fit is refused", () => {
  assertThrows(
    () => new IdentityEnv({ actionSpace: dict({ a: discrete(2) }) }),
    TypeError,
    "of a dict space",
  );
  const env = new IdentityEnv();
  assertThrows(() => env.step(0), Error, "call reset first");
  const other = new IdentityEnv({ actionSpace: SPACES[4] });
  assertThrows(() => env.load(other.save()), TypeError, "discrete");
});
