/** Types of environments, by their ids and by their classes. */
import {
  box,
  ClipAction,
  ClipReward,
  discrete,
  Env,
  FlattenObservation,
  FrameStack,
  make,
  makeVec,
  NormalizeObservation,
  NormalizeReward,
  RecordEpisodeStatistics,
  register,
  sample,
  SeededRandom,
  SyncVecEnv,
  TimeLimit,
  TransformObservation,
} from "@bellman/envs";
import type {
  ActionsOf,
  Batch,
  BoxSpace,
  DiscreteSpace,
  Env as EnvInterface,
  ObservationsOf,
  SpaceValue,
  VecEnv,
} from "@bellman/types";
import { same, use } from "./same.ts";

/** An environment of the user's. */
class Room extends Env<Int32Array, number> {
  observationSpace = box({ shape: [2], low: 0, high: 9, dtype: "int32" });
  actionSpace = discrete(4);
  private at = 0;

  constructor(private readonly slip = 0.1) {
    super();
  }

  reset(options?: { seed?: number }): Int32Array {
    this.seed(options);
    return Int32Array.of(0, this.at);
  }

  step(action: number) {
    this.at = action + this.slip;
    const observation = this.reset(), end = { terminated: false };
    return { observation, reward: 1, ...end, truncated: false };
  }
}

declare module "@bellman/envs" {
  interface RegisteredEnvs {
    "TypedRoom-v0": Room;
    "TypedArm-v0": EnvInterface<
      { camera: Uint8Array; joints: Float32Array },
      Float32Array
    >;
  }
}

export function ofIds(): void {
  const pole = make("CartPole-v1"), observation = pole.reset({ seed: 0 });
  same<typeof observation, Float32Array>(true);
  same<typeof observation[0], number>(true);
  same<Parameters<typeof pole.step>[0], number>(true);
  same<ReturnType<typeof pole.step>["observation"], Float32Array>(true);
  same<typeof pole.actionSpace, DiscreteSpace>(true);
  same<typeof pole.observationSpace, BoxSpace<"float32">>(true);
  pole.step(sample(pole.actionSpace, new SeededRandom(0)));
  // @ts-expect-error -- its actions are numbers
  pole.step(Float32Array.of(0));

  const poles = makeVec("CartPole-v1", { numEnvs: 2 });
  const { observations, rewards } = poles.step(Int32Array.of(0, 1));
  same<typeof observations, Float32Array>(true);
  same<typeof rewards, Float64Array>(true);
  same<ReturnType<typeof poles.reset>, Float32Array>(true);
  // @ts-expect-error -- whole numbers are in an Int32Array
  poles.step(Float32Array.of(0, 1));

  const pendulums = makeVec("Pendulum-v1", { numEnvs: 1 });
  same<Parameters<typeof pendulums.step>[0], Float32Array>(true);
  const cheetah = makeVec("HalfCheetah-v5", { numEnvs: 1 });
  same<ReturnType<typeof cheetah.reset>, Float64Array>(true);
  const pong = make("ALE/Pong-v5");
  same<ReturnType<typeof pong.reset>, Uint8Array>(true);
  const old = make("PongNoFrameskip-v4");
  same<ReturnType<typeof old.reset>, Uint8Array>(true);
  const reach = makeVec("Reach-v0", { numEnvs: 1 }).reset();
  same<typeof reach.desired_goal, Float32Array>(true);
  const chains = makeVec("Chain-v0", { numEnvs: 1 });
  same<ReturnType<typeof chains.reset>, Int32Array>(true);
}

export function ofOtherIds(id: string): void {
  const some = make(id), unknown = makeVec("Unknown-v0", { numEnvs: 1 });
  same<ReturnType<typeof some.reset>, SpaceValue>(true);
  same<ReturnType<typeof unknown.reset>, Batch>(true);
  const either = Math.random() < 0.5 ? "CartPole-v1" : "Acrobot-v1";
  same<
    ReturnType<ReturnType<typeof make<typeof either>>["reset"]>,
    Float32Array
  >(
    true,
  );
  const mixed = Math.random() < 0.5 ? "CartPole-v1" : "Pendulum-v1";
  const one = make(mixed);
  const start: Float32Array = one.reset();
  use(start);
  // @ts-expect-error -- the pendulum takes no number
  one.step(1);
  // @ts-expect-error -- nor whole numbers
  makeVec(mixed, { numEnvs: 1 }).step(Int32Array.of(1));
  // @ts-expect-error -- an id is a text
  make(3);
  // @ts-expect-error -- there is no such option
  make("CartPole-v1", { maxSteps: 3 });
}

export function ofOwnIds(): void {
  register({
    id: "TypedRoom-v0",
    make: ({ slip }: { slip?: number }) => new Room(slip),
  });
  const room = make("TypedRoom-v0");
  same<ReturnType<typeof room.reset>, Int32Array>(true);
  room.step(1);
  const rooms = makeVec("TypedRoom-v0", { numEnvs: 2 });
  same<Parameters<typeof rooms.step>[0], Int32Array>(true);
  const { camera, joints } = makeVec("TypedArm-v0", { numEnvs: 2 }).reset();
  same<typeof camera, Uint8Array>(true);
  same<typeof joints, Float32Array>(true);
}

export function ofClasses(): void {
  const rooms = new SyncVecEnv([() => new Room(), () => new Room(0.2)]);
  same<ObservationsOf<typeof rooms>, Int32Array>(true);
  same<ActionsOf<typeof rooms>, Int32Array>(true);
  const general: VecEnv = rooms, exact: VecEnv<Int32Array, Int32Array> = rooms;
  const one: EnvInterface = new Room();
  use(general, exact, one);
  // @ts-expect-error -- its observations are whole numbers
  const wrong: VecEnv<Float32Array> = rooms;
  use(wrong);
}

export function ofWrappers(): void {
  const poles = makeVec("CartPole-v1", { numEnvs: 2 });
  const scaled = new NormalizeReward(new NormalizeObservation(poles));
  same<ObservationsOf<typeof scaled>, Float32Array>(true);
  same<ActionsOf<typeof scaled>, Int32Array>(true);
  const { finalObservations } = scaled.step(Int32Array.of(0, 1));
  same<typeof finalObservations, Float32Array>(true);
  const env: VecEnv<Float32Array, Int32Array> = scaled;
  use(env);

  const arms = makeVec("TypedArm-v0", { numEnvs: 2 });
  const arm = new NormalizeObservation(arms).reset();
  same<typeof arm.camera, Uint8Array>(true);
  const flat = new FlattenObservation(arms);
  same<ReturnType<typeof flat.reset>, Float32Array>(true);
  same<Parameters<typeof flat.step>[0], Float32Array>(true);

  const limited = new TimeLimit(new FrameStack(new Room(), { size: 2 }), 9);
  same<ReturnType<typeof limited.reset>, Int32Array>(true);
  same<ReturnType<typeof limited.step>["observation"], Int32Array>(true);
  const recorded = new RecordEpisodeStatistics(new ClipReward(limited));
  recorded.step(2);
  // @ts-expect-error -- its actions are numbers
  recorded.step("up");

  const halves = new TransformObservation(
    make("CartPole-v1"),
    ([position]) => position / 2 > 0 ? 1 : 0,
    { space: discrete(2) },
  );
  const half: number = halves.reset();
  use(half);
  const clipped = new ClipAction(make("Pendulum-v1"));
  clipped.step(sample(clipped.actionSpace, new SeededRandom(0)));
}
