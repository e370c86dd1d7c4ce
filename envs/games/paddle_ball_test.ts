import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { SeededRandom } from "../random.ts";
import { PaddleBall, randomPlayer, scriptedPlayer } from "./mod.ts";

const ONE = Uint8Array.of(1);

/** A world with the ball and paddles where they are wanted. */
function worldAt(
  ball: readonly number[],
  paddles: readonly number[] = [0, 0],
  scores: readonly number[] = [0, 0],
): PaddleBall {
  const world = new PaddleBall();
  world.begin(0, new SeededRandom(0));
  world.load({
    ...world.save() as object,
    ball: Float64Array.from(ball),
    paddles: Float64Array.from(paddles),
    scores: Int32Array.from(scores),
  });
  return world;
}

function step(world: PaddleBall, left = 0, right = 0) {
  const actions = [Int32Array.of(left), Int32Array.of(right)];
  const { rewards, terminated } = world.step(actions, ONE);
  return { rewards: [...rewards], terminated: [...terminated] };
}

function assertNear(
  actual: ArrayLike<number>,
  expected: readonly number[],
): void {
  assertEquals(actual.length, expected.length);
  expected.forEach((it, i) => assertAlmostEquals(actual[i], it, 1e-6));
}

const action = fc.integer({ min: 0, max: 2 });
const game = fc.record({
  seed: fc.nat(),
  actions: fc.array(fc.tuple(action, action), {
    minLength: 300,
    maxLength: 300,
  }),
});

Deno.test("a game seen from the other side is the mirrored game", () => {
  let points = 0;
  fc.assert(
    fc.property(game, ({ seed, actions }) => {
      const [world, mirrored] = [new PaddleBall(), new PaddleBall()];
      world.begin(0, new SeededRandom(seed));
      const state = world.save() as Record<string, Float64Array>;
      mirrored.begin(0, new SeededRandom(seed + 1));
      mirrored.load({
        ...state,
        ball: state.ball.map((it, i) => i % 2 === 0 ? -it : it),
        serves: state.serves.map((it) => -it),
      });
      for (const [left, right] of actions) {
        if (!world.toAct.includes(1)) break;
        const one = step(world, left, right);
        const other = step(mirrored, right, left);
        assertEquals(one.rewards, other.rewards.toReversed());
        assertEquals(one.terminated, other.terminated.toReversed());
        assertNear(world.observe(0), [...mirrored.observe(1)]);
        assertNear(world.observe(1), [...mirrored.observe(0)]);
        assertEquals(one.rewards[0], -one.rewards[1] + 0);
        points += Math.abs(one.rewards[0]);
      }
    }),
    { numRuns: 40, seed: 1 },
  );
  assert(points > 20);
});

Deno.test("walls reflect the ball", () => {
  const world = worldAt([0, 0.95, 0.04, 0.1]);
  step(world);
  assertNear(world.observe(0).subarray(0, 4), [0.04, 0.95, 0.4, -1]);
  const down = worldAt([0, -0.95, 0.04, -0.1]);
  step(down);
  assertNear(down.observe(0).subarray(0, 4), [0.04, -0.95, 0.4, 1]);
});

Deno.test("a paddle returns the ball faster, and along y by how far off it is hit", () => {
  // At 0.1 above the middle of the right paddle.
  const world = worldAt([0.97, 0.3, 0.05, 0], [0, 0.2]);
  assertEquals(step(world).rewards, [0, 0]);
  assertNear(world.observe(0).subarray(0, 4), [1, 0.3, -0.55, 0.5]);
  // It does not grow for ever.
  const fast = worldAt([-0.97, 0, -0.099, 0]);
  step(fast);
  assertNear(fast.observe(0).subarray(0, 4), [-1, 0, 1, 0]);
});

Deno.test("paddles move before the ball is judged, and stay in the field", () => {
  // The gap is 0.25: one step up makes it 0.19.
  const ball = [0.97, 0.25, 0.05, 0];
  assertEquals(step(worldAt(ball), 0, 0).rewards, [1, -1]);
  assertEquals(step(worldAt(ball), 0, 1).rewards, [0, 0]);
  assertEquals(step(worldAt(ball), 1, 0).rewards, [1, -1]);
  const world = worldAt([0, 0, 0.04, 0], [0.79, -0.79]);
  step(world, 1, 2);
  assertNear(world.observe(0).subarray(4, 6), [0.8, -0.8]);
});

Deno.test("a missed ball is a point and a new serve, the last one ends the game", () => {
  const ball = [-0.97, 0.9, -0.05, 0];
  const world = worldAt(ball, [0, 0], [0, 1]);
  const first = step(world);
  assertEquals(first, { rewards: [-1, 1], terminated: [0, 0] });
  assertNear(world.observe(0).subarray(6), [0, 2 / 3]);
  assertNear(world.observe(1).subarray(6), [2 / 3, 0]);
  const [x, y, speed] = world.observe(0);
  assertEquals([x, y], [0, 0]);
  assertAlmostEquals(Math.abs(speed), 0.4, 1e-6);
  assertEquals([...world.toAct], [1, 1]);
  const last = worldAt(ball, [0, 0], [2, 2]);
  assertEquals(step(last), { rewards: [-1, 1], terminated: [1, 1] });
  assertEquals([...last.toAct], [0, 0]);
  assertEquals(last.observe(1)[6], 1);
});

Deno.test("serves go to both sides and at all angles", () => {
  const numEnvs = 400, world = new PaddleBall({ numEnvs });
  const random = new SeededRandom(0);
  for (let env = 0; env < numEnvs; env++) world.begin(env, random);
  const rows = [...Array(numEnvs).keys()].map((env) => [
    ...world.observe(0).subarray(8 * env + 2, 8 * env + 4),
  ]);
  for (const side of [-1, 1]) {
    const slopes = rows.filter(([x]) => Math.sign(x) === side)
      .map(([, y]) => y).sort((a, b) => a - b);
    assert(slopes.length > 150);
    assert(slopes[0] < -0.28 && slopes[0] >= -0.3001);
    assert(slopes.at(-1)! > 0.28 && slopes.at(-1)! <= 0.3001);
  }
});

Deno.test("the scripted player beats a random one on both sides", () => {
  const numEnvs = 50, world = new PaddleBall({ numEnvs });
  const random = new SeededRandom(0), scripted = scriptedPlayer(world);
  for (const seat of [0, 1]) {
    for (let env = 0; env < numEnvs; env++) world.begin(env, random);
    const actions = [0, 1].map(() => new Int32Array(numEnvs));
    const which = new Uint8Array(numEnvs).fill(1);
    let won = 0;
    while (which.includes(1)) {
      [0, 1].forEach((it) => {
        const play = it === seat ? scripted : randomPlayer;
        play(world, { seat: it, actions: actions[it], random });
      });
      const { rewards, terminated } = world.step(actions, which);
      for (let env = 0; env < numEnvs; env++) {
        if (world.toAct[2 * env] === 1 || which[env] === 0) continue;
        which[env] = 0;
        won += +(rewards[2 * env + seat] === 1 && terminated[2 * env] === 1);
      }
    }
    assert(won >= 48);
  }
});

Deno.test("the picture shows ball and paddles", () => {
  const world = worldAt([0.5, 0.5, 0.04, 0], [0.5, -0.5]);
  const { width, height, data } = world.render(0, { width: 220, height: 220 });
  assertEquals([width, height], [220, 220]);
  const at = (x: number, y: number) => {
    const i = 3 * (width * y + x);
    return [...data.subarray(i, i + 3)];
  };
  assertEquals(at(160, 60), [255, 255, 255]);
  assertEquals(at(7, 60), [87, 155, 252]);
  assertEquals(at(212, 160), [240, 101, 96]);
  assertEquals(at(7, 160), at(110, 110));
});
