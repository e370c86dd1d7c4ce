import { assertEquals } from "@std/assert";
import { make, RecordEpisodeStatistics, SyncVecEnv } from "@bellman/envs";
import { AtariEnv, isAtariInstalled } from "@bellman/envs/atari";
import { hasGymnasium, registerGymnasium } from "@bellman/envs/gymnasium";
import { isMujocoInstalled } from "@bellman/envs/mujoco";
import {
  enlarged,
  frameRateOf,
  playEpisodes,
  type Player,
} from "./episodes.ts";

Deno.test("each environment has its own frame rate", () => {
  const rate = (id: string, kwargs = {}) => {
    const env = make(id, { kwargs });
    const rate = frameRateOf(env);
    env.close();
    return Math.round(rate);
  };
  assertEquals(
    ["CartPole-v1", "Pendulum-v1", "Acrobot-v1", "MountainCar-v0"]
      .map((id) => rate(id)),
    [50, 30, 15, 30],
  );
  if (isMujocoInstalled()) {
    assertEquals(["HalfCheetah-v5", "Hopper-v5"].map((id) => rate(id)), [
      20,
      125,
    ]);
  }
  if (isAtariInstalled()) {
    assertEquals(rate("ALE/Pong-v5"), 15);
    assertEquals(rate("ALE/Pong-v5", { preprocessing: "deepmind" }), 15);
    assertEquals(rate("PongNoFrameskip-v4"), 60);
    assertEquals(rate("Pong-v4"), 20);
  }
  if (hasGymnasium()) {
    assertEquals(rate(registerGymnasium("CartPole-v1")), 50);
    assertEquals(rate(registerGymnasium("FrozenLake-v1")), 4);
  }
});

Deno.test("an environment that does not know its rate has the usual one", () => {
  assertEquals(frameRateOf({ framesPerSecond: undefined }), 30);
  assertEquals(frameRateOf({ framesPerSecond: 0 }), 30);
});

Deno.test("small images grow by a whole number, with hard edges", () => {
  const data = Uint8Array.from({ length: 2 * 1 * 3 }, (_, i) => i);
  const { width, height, data: large } = enlarged({
    width: 2,
    height: 1,
    data,
  });
  assertEquals([width, height], [640, 320]);
  const pixel = (x: number, y: number) => [
    ...large.subarray(3 * (y * width + x), 3 * (y * width + x) + 3),
  ];
  assertEquals([pixel(0, 0), pixel(319, 319)], [[0, 1, 2], [0, 1, 2]]);
  assertEquals([pixel(320, 0), pixel(639, 319)], [[3, 4, 5], [3, 4, 5]]);
  const wide = { width: 600, height: 2, data: new Uint8Array(3600) };
  assertEquals(enlarged(wide), wide);
});

Deno.test("Atari's screen is shown three times as large [ALE]", {
  ignore: !isAtariInstalled(),
}, () => {
  const env = new AtariEnv("pong");
  env.reset({ seed: 0 });
  const { width, height } = enlarged(env.render());
  assertEquals([width, height], [480, 630]);
  env.close();
});

Deno.test("each state but the last is shown, with the return so far", async () => {
  const env = make("CartPole-v1", { maxEpisodeSteps: 3 });
  const setup = {
    algorithm: { policy: () => ({ act: () => Int32Array.of(0) }) },
    environments: {
      around: () => new RecordEpisodeStatistics(new SyncVecEnv([() => env])),
    },
  } as unknown as Player;
  const options = { episodes: 2, deterministic: true, seed: 0 };
  const shown: number[][] = [];
  const played = await playEpisodes(setup, {
    ...options,
    env,
    show: (it) => void shown.push([it.episode, it.step, it.return]),
  });
  assertEquals(played.map(({ length }) => length), [3, 3]);
  assertEquals(shown, [
    [1, 0, 0],
    [1, 1, 1],
    [1, 2, 2],
    [2, 0, 0],
    [2, 1, 1],
    [2, 2, 2],
  ]);
  let count = 0;
  const cut = await playEpisodes(setup, {
    ...options,
    env,
    show: () => ++count < 2,
  });
  assertEquals([cut, count], [[], 2]);
});
