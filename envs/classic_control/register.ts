import { registerClassic } from "./_register_classic.ts";
import { CartPoleEnv } from "./cart_pole_env.ts";
import { CartPoleVecEnv } from "./cart_pole_vec_env.ts";

const cartPole = {
  single: CartPoleEnv,
  batched: CartPoleVecEnv,
};

registerClassic(
  { id: "CartPole-v0", maxEpisodeSteps: 200, rewardThreshold: 195 },
  cartPole,
);
registerClassic(
  { id: "CartPole-v1", maxEpisodeSteps: 500, rewardThreshold: 475 },
  cartPole,
);
