import { registerClassic } from "./_register_classic.ts";
import { AcrobotEnv } from "./acrobot_env.ts";
import { AcrobotVecEnv } from "./acrobot_vec_env.ts";
import { CartPoleEnv } from "./cart_pole_env.ts";
import { CartPoleVecEnv } from "./cart_pole_vec_env.ts";
import { MountainCarEnv } from "./mountain_car_env.ts";
import { MountainCarVecEnv } from "./mountain_car_vec_env.ts";
import { MountainCarContinuousEnv } from "./mountain_car_continuous_env.ts";
import { MountainCarContinuousVecEnv } from "./mountain_car_continuous_vec_env.ts";
import { PendulumEnv } from "./pendulum_env.ts";
import { PendulumVecEnv } from "./pendulum_vec_env.ts";

const cartPole = { single: CartPoleEnv, batched: CartPoleVecEnv };

registerClassic({
  id: "CartPole-v0",
  maxEpisodeSteps: 200,
  rewardThreshold: 195,
}, cartPole);
registerClassic({
  id: "CartPole-v1",
  maxEpisodeSteps: 500,
  rewardThreshold: 475,
}, cartPole);
registerClassic({
  id: "MountainCar-v0",
  maxEpisodeSteps: 200,
  rewardThreshold: -110,
}, { single: MountainCarEnv, batched: MountainCarVecEnv });
registerClassic({
  id: "MountainCarContinuous-v0",
  maxEpisodeSteps: 999,
  rewardThreshold: 90,
}, { single: MountainCarContinuousEnv, batched: MountainCarContinuousVecEnv });
registerClassic({
  id: "Acrobot-v1",
  maxEpisodeSteps: 500,
  rewardThreshold: -100,
}, { single: AcrobotEnv, batched: AcrobotVecEnv });
registerClassic({ id: "Pendulum-v1", maxEpisodeSteps: 200 }, {
  single: PendulumEnv,
  batched: PendulumVecEnv,
});
