/**
 * Mean returns that count as learned, over deterministic episodes, by algorithm
 * and by the name of the results: the environment or a preset.
 */
export const BARS: Readonly<Record<string, Readonly<Record<string, number>>>> =
  {
    a2c: {
      "CartPole-v1": 475,
      "CartPole-v0": 195,
      "Acrobot-v1": -85,
      "MountainCar-v0": -110,
      "MountainCarContinuous-v0": 90,
      "Pendulum-v1": -250,
    },
    sac: {
      "Pendulum-v1": -160,
      "Pendulum-v1-value": -180,
      "Pendulum-v1-mixture": -180,
      "MountainCarContinuous-v0": 93,
      "CartPole-v1": 475,
      "gym:LunarLanderContinuous-v3": 200,
    },
  };
