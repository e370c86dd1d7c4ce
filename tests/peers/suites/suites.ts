/** Comparisons with peers, and the wanted ratios. */
import { ALGORITHMS } from "./algorithms.ts";
import { BANDITS, REGRETS } from "./bandits.ts";
import { BUFFERS, HINDSIGHT } from "./buffers.ts";
import { DQN_SUITES } from "./dqn.ts";
import { ENVIRONMENTS } from "./environments.ts";
import { GAMES } from "./games.ts";
import { HOST_SUITES } from "./hosts.ts";
import { OFFLINE } from "./offline.ts";
import { PAGES } from "./pages.ts";
import { PPO_SUITES } from "./ppo.ts";
import { STATISTICS } from "./statistics.ts";
import type { Suite } from "./suite.ts";
import { TD3_SUITES } from "./td3.ts";

/** Every suite by name. */
export const SUITES: Readonly<Record<string, Suite>> = {
  ...ALGORITHMS,
  ...DQN_SUITES,
  ...PPO_SUITES,
  ...TD3_SUITES,
  ...HOST_SUITES,
  bandits: BANDITS,
  regrets: REGRETS,
  buffers: BUFFERS,
  hindsight: HINDSIGHT,
  games: GAMES,
  offline: OFFLINE,
  pages: PAGES,
  ...ENVIRONMENTS,
  statistics: STATISTICS,
};
