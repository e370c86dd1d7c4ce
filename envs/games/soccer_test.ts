import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { SeededRandom } from "../random.ts";
import { randomPlayer, scriptedPlayer, Soccer } from "./mod.ts";

const [STAY, FORWARD, BACK, UP, DOWN, KICK] = [0, 1, 2, 3, 4, 5];
const ONE = Uint8Array.of(1);

interface Scene {
  /** Places of blue0, blue1, red0, red1; far off by default. */
  places?: readonly (readonly [x: number, y: number])[];
  ball?: readonly number[];
  tackles?: boolean;
}

const FAR = [[-0.9, 0.5], [-0.9, -0.5], [0.9, 0.5], [0.9, -0.5]] as const;

function sceneOf(
  { places = [], ball = [0, 0, 0, 0], tackles = false }: Scene,
): Soccer {
  const world = new Soccer({ tackles });
  world.begin(0, new SeededRandom(0));
  const all = FAR.map((it, seat) => places[seat] ?? it);
  world.load({
    ...world.save() as object,
    places: Float64Array.from(all.flat()),
    ball: Float64Array.from(ball),
  });
  return world;
}

function step(world: Soccer, ...actions: number[]) {
  const given = world.seats.map((_, seat) => Int32Array.of(actions[seat] ?? 0));
  const { rewards, terminated } = world.step(given, ONE);
  return { rewards: [...rewards], terminated: [...terminated] };
}

function assertNear(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
): void {
  assertEquals(actual.length, expected.length);
  for (let i = 0; i < expected.length; i++) {
    assertAlmostEquals(actual[i], expected[i], 1e-6);
  }
}

const ballOf = (world: Soccer) => world.observe(0).subarray(2, 6);

const coordinate = (limit: number) =>
  fc.integer({ min: -1000, max: 1000 }).map((it) => it * limit / 1000);
const place = fc.oneof(
  fc.tuple(coordinate(1), coordinate(0.6)),
  fc.tuple(fc.constantFrom(-0.99, 0.99), coordinate(0.6)),
);
const actions = fc.array(fc.integer({ min: 0, max: 5 }), {
  minLength: 4,
  maxLength: 4,
});

Deno.test("with sides swapped and mirrored, each sees and gets the same", () => {
  let ends = 0, kicks = 0;
  const near = fc.tuple(coordinate(0.15), coordinate(0.15));
  fc.assert(
    fc.property(
      fc.tuple(near, near, near, near),
      place,
      fc.tuple(coordinate(0.08), coordinate(0.08)),
      actions,
      fc.boolean(),
      (around, [x, y], way, chosen, tackles) => {
        const places = around.map(([dx, dy]) =>
          [
            Math.min(Math.max(x + dx, -1), 1),
            Math.min(Math.max(y + dy, -0.6), 0.6),
          ] as const
        );
        const flipped = [2, 3, 0, 1].map((it) =>
          [-places[it][0], places[it][1]] as const
        );
        const world = sceneOf({ places, ball: [x, y, ...way], tackles });
        const mirrored = sceneOf({
          places: flipped,
          ball: [-x, y, -way[0], way[1]],
          tackles,
        });
        const swap = <T>(list: readonly T[]) =>
          [2, 3, 0, 1].map((it) => list[it]);
        const one = step(world, ...chosen);
        const other = step(mirrored, ...swap(chosen));
        assertEquals(one.rewards, swap(other.rewards));
        assertEquals(one.terminated, swap(other.terminated));
        for (const seat of [0, 1, 2, 3]) {
          const seen = world.observe(seat);
          assertNear(seen, mirrored.observe((seat + 2) % 4));
          assert(seen.every((it) => it >= -1 && it <= 1));
        }
        ends += one.terminated[0] | one.terminated[2];
        kicks += +chosen.includes(KICK);
      },
    ),
    { numRuns: 500, seed: 1 },
  );
  assert(ends > 20 && kicks > 100);
});

Deno.test("players move by a step as they see it, and stay in the field", () => {
  const moves = [
    [STAY, 0, 0],
    [FORWARD, 0.04, 0],
    [BACK, -0.04, 0],
    [UP, 0, 0.04],
    [DOWN, 0, -0.04],
  ];
  for (const [action, x, y] of moves) {
    const world = sceneOf({ places: [[0.2, 0.3], [0, 0], [-0.2, 0.3]] });
    step(world, action, 0, action);
    assertNear(world.observe(0).subarray(0, 2), [0.2 + x, 0.3 + y]);
    assertNear(world.observe(2).subarray(0, 2), [0.2 + x, 0.3 + y]);
  }
  const world = sceneOf({
    places: [[0.99, 0], [0, 0.59], [0.99, 0], [0, -0.59]],
  });
  step(world, FORWARD, UP, BACK, DOWN);
  assertNear(world.observe(0).subarray(0, 2), [1, 0]);
  assertNear(world.observe(1).subarray(0, 2), [0, 0.6]);
  assertNear(world.observe(2).subarray(0, 2), [-1, 0]);
  assertNear(world.observe(3).subarray(0, 2), [0, -0.6]);
});

Deno.test("a kick sends the ball away from the player, who must be near", () => {
  const world = sceneOf({ places: [[-0.03, -0.04]] });
  step(world, KICK);
  assertNear(ballOf(world), [0.072, 0.096, 0.6 * 0.92, 0.8 * 0.92]);
  const far = sceneOf({ places: [[-0.11, 0]] });
  step(far, KICK);
  assertNear(ballOf(far), [0, 0, 0, 0]);
  // Two from both sides cancel out, two from one side are one kick.
  const both = sceneOf({ places: [[-0.05, 0], [0.05, 0]] });
  step(both, KICK, KICK);
  assertNear(ballOf(both), [0, 0, 0, 0]);
  const same = sceneOf({ places: [[-0.05, 0], [-0.07, 0]] });
  step(same, KICK, KICK);
  assertNear(ballOf(same), [0.12, 0, 0.92, 0]);
  const upon = sceneOf({ places: [[0.5, 0], [0.5, 0.1], [0, 0]] });
  step(upon, 0, 0, KICK);
  assertNear(ballOf(upon), [-0.12, 0, -0.92, 0]);
});

Deno.test("walls reflect the ball beside the goals", () => {
  const up = sceneOf({ ball: [0, 0.55, 0, 0.1] });
  step(up);
  assertNear(ballOf(up), [0, 0.55, 0, -0.092 / 0.12]);
  const right = sceneOf({ ball: [0.95, 0.3, 0.1, 0] });
  assertEquals(step(right).terminated, [0, 0, 0, 0]);
  assertNear(ballOf(right), [0.95, 0.3, -0.092 / 0.12, 0]);
});

Deno.test("a goal ends the game for both teams", () => {
  const right = sceneOf({ ball: [0.95, 0.1, 0.1, 0] });
  assertEquals(step(right), {
    rewards: [1, 1, -1, -1],
    terminated: [1, 1, 1, 1],
  });
  assertEquals([...right.toAct], [0, 0, 0, 0]);
  const left = sceneOf({ ball: [-0.95, -0.1, -0.1, 0] });
  assertEquals(step(left).rewards, [-1, -1, 1, 1]);
});

Deno.test("a seat sees its team mate first, then the others, mirrored for red", () => {
  const world = sceneOf({
    places: [[0.1, 0.2], [0.3, 0.4], [0.5, -0.1], [0.7, -0.3]],
    ball: [-0.2, 0.5, 0.06, -0.03],
  });
  const ball = [-0.2, 0.5, 0.5, -0.25];
  assertNear(world.observe(1), [
    ...[0.3, 0.4, ...ball],
    ...[0.1, 0.2, 1, 0.5, -0.1, 1, 0.7, -0.3, 1],
  ]);
  assertNear(world.observe(2), [
    ...[-0.5, -0.1, 0.2, 0.5, -0.5, -0.25],
    ...[-0.7, -0.3, 1, -0.1, 0.2, 1, -0.3, 0.4, 1],
  ]);
});

Deno.test("who is tackled is out, and its team mates go on", () => {
  // red0 has the ball; blue0 is near to red0, but not to the ball.
  const places = [[-0.12, 0], [-0.9, 0], [-0.04, 0], [0.9, 0]] as const;
  const world = sceneOf({ places, tackles: true });
  assertEquals(step(world, KICK), {
    rewards: [0, 0, -1, 0],
    terminated: [0, 0, 1, 0],
  });
  assertEquals([...world.toAct], [1, 1, 0, 1]);
  assertEquals(world.observe(0)[11], 0);
  assertEquals(world.observe(3)[8], 0);
  // Its actions count no more, and its game has no other end.
  const before = [...world.observe(2)];
  step(world, STAY, STAY, FORWARD, STAY);
  assertNear(world.observe(2), before);
  const state = world.save() as Record<string, Float64Array>;
  world.load({ ...state, ball: Float64Array.of(0.95, 0, 0.1, 0) });
  assertEquals(step(world), {
    rewards: [1, 1, 0, -1],
    terminated: [1, 1, 0, 1],
  });
  assertEquals([...world.toAct], [0, 0, 0, 0]);
  world.begin(0, new SeededRandom(0));
  assertEquals([...world.toAct], [1, 1, 1, 1]);
});

Deno.test("nobody is tackled without the option, the ball, or in reach", () => {
  const near = [[-0.12, 0], [-0.9, 0], [-0.04, 0], [0.9, 0]] as const;
  const scenes: Scene[] = [
    { places: near },
    // The other has no ball.
    { places: near, ball: [0.5, 0, 0, 0], tackles: true },
    // Out of reach.
    { places: [[-0.15, 0], ...near.slice(1)], tackles: true },
    // The ball is in reach: a kick.
    { places: [[-0.09, 0], ...near.slice(1)], tackles: true },
    // A team mate.
    { places: [near[0], near[2], [0.9, 0.5]], tackles: true },
  ];
  for (const scene of scenes) {
    assertEquals(step(sceneOf(scene), KICK).terminated, [0, 0, 0, 0]);
  }
});

Deno.test("who is out at the time limit is not truncated", () => {
  const places = [[-0.12, 0], [-0.9, 0], [-0.04, 0], [0.9, 0]] as const;
  const world = sceneOf({ places, tackles: true });
  step(world, KICK);
  let last: number[] = [];
  for (let i = 1; i < world.maxEpisodeSteps; i++) {
    const stay = world.seats.map(() => new Int32Array(1));
    last = [...world.step(stay, ONE).truncated];
  }
  assertEquals(last, [1, 1, 0, 1]);
  // It is still seen to be out, after the end too.
  assertEquals(world.observe(0)[11], 0);
});

Deno.test("scripted teams beat random ones, on both sides and with tackles", () => {
  for (const tackles of [false, true]) {
    const numEnvs = 50, world = new Soccer({ numEnvs, tackles });
    const random = new SeededRandom(0), scripted = scriptedPlayer(world);
    for (const team of [0, 1]) {
      for (let env = 0; env < numEnvs; env++) world.begin(env, random);
      const actions = world.seats.map(() => new Int32Array(numEnvs));
      const which = new Uint8Array(numEnvs).fill(1);
      const sums = new Float64Array(numEnvs);
      while (which.includes(1)) {
        actions.forEach((it, seat) => {
          const play = seat >> 1 === team ? scripted : randomPlayer;
          play(world, { seat, actions: it, random });
        });
        const { rewards } = world.step(actions, which);
        for (let env = 0; env < numEnvs; env++) {
          for (const seat of [2 * team, 2 * team + 1]) {
            sums[env] += rewards[4 * env + seat];
          }
          const acts = world.toAct.subarray(4 * env, 4 * env + 4);
          which[env] &= +acts.includes(1);
        }
      }
      assert(sums.filter((it) => it > 0).length >= 46);
    }
  }
});

Deno.test("players begin in their half, the ball in the middle", () => {
  const world = new Soccer({ numEnvs: 100 }), random = new SeededRandom(0);
  for (let env = 0; env < 100; env++) world.begin(env, random);
  const seen = [0, 1, 2, 3].map((seat) => world.observe(seat));
  const heights: number[] = [];
  for (let env = 0; env < 100; env++) {
    seen.forEach((rows, seat) => {
      const [x, y, ballX, ballY] = rows.subarray(15 * env);
      assertAlmostEquals(x, seat % 2 === 0 ? -0.7 : -0.3, 1e-6);
      assert(Math.abs(y) <= 0.4 && Math.abs(ballY) <= 0.3);
      assertEquals(ballX + 0, 0);
      heights.push(y);
    });
  }
  assert(Math.min(...heights) < -0.35 && Math.max(...heights) > 0.35);
});

Deno.test("the picture shows players, the ball, and who is out", () => {
  const places = [[-0.12, 0], [-0.9, 0], [-0.04, 0], [0.9, 0]] as const;
  const world = sceneOf({ places, ball: [0, 0.05, 0, 0], tackles: true });
  const pixel = (x: number, y: number) => {
    const { width, data } = world.render(0);
    const at = 3 * (width * Math.round(200 * (0.7 - y)) +
      Math.round(200 * (x + 1.1)));
    return [...data.subarray(at, at + 3)];
  };
  const [blue, red] = [pixel(-0.9, 0), pixel(0.9, 0)];
  assert(blue[2] > 150 && blue[0] < 100 && red[0] > 150 && red[2] < 100);
  assertEquals(pixel(0, 0.05), [255, 255, 255]);
  assertEquals(pixel(-0.04, -0.02), red);
  step(world, KICK);
  const pale = pixel(-0.04, -0.02);
  assert(pale[1] > red[1] + 50);
});
