/** Mean returns that count as learned, over 20 deterministic episodes. */
export const BARS: Readonly<Record<string, number>> = {
  "CartPole-v1": 475,
  "CartPole-v0": 195,
  "Acrobot-v1": -85,
  "MountainCar-v0": -110,
  "MountainCarContinuous-v0": 90,
  "Pendulum-v1": -250,
};
