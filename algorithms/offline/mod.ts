/**
 * Learning from recorded data: behavioural cloning (BC) of any policy, and implicit
 * Q-learning (IQL), which finds better actions than the mean of the data; their updates
 * as pure functions, and settings.
 *
 * @example Clone whoever takes the action that it sees
 * ```ts
 * import { Agent } from "@bellman/agent";
 * import { Dataset } from "@bellman/buffers/datasets";
 * import { bc } from "@bellman/offline";
 * import { train } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const spaces = {
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 * } as const;
 * const data = new Dataset([{
 *   observations: [0, 1, 1, 0],
 *   actions: [0, 1, 1],
 *   rewards: [0, 0, 0],
 *   terminations: [0, 0, 1],
 *   truncations: [0, 0, 0],
 * }], { ...spaces, holdout: 0 });
 * const config = { hiddenSizes: [8], batchSize: 8, learningRate: 0.03 };
 * const agent = new Agent(bc, { ...spaces, numEnvs: 2 }, { data, config });
 * await train(agent, null, { totalTimesteps: 100 });
 * const actor = agent.policy({ deterministic: true });
 * assertEquals(actor.act([0, 1]), Int32Array.of(0, 1));
 * agent.close();
 * ```
 *
 * @example Find the better of two actions
 * ```ts
 * import { Agent } from "@bellman/agent";
 * import { Dataset } from "@bellman/buffers/datasets";
 * import { iql } from "@bellman/offline";
 * import { train } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const spaces = {
 *   observationSpace: { type: "discrete", n: 1 },
 *   actionSpace: { type: "discrete", n: 2 },
 * } as const;
 * // Both actions were tried; the second one pays.
 * const episode = (action: number) => ({
 *   observations: [0, 0],
 *   actions: [action],
 *   rewards: [action],
 *   terminations: [1],
 *   truncations: [0],
 * });
 * const data = new Dataset([episode(0), episode(1), episode(0)], {
 *   ...spaces,
 *   holdout: 0,
 * });
 * const config = { hiddenSizes: [8], batchSize: 16, learningRate: 0.03, rewardScale: 1 };
 * const agent = new Agent(iql, { ...spaces, numEnvs: 1 }, { data, config });
 * await train(agent, null, { totalTimesteps: 200 });
 * assertEquals(agent.policy({ deterministic: true }).act([0]), Int32Array.of(1));
 * agent.close();
 * ```
 *
 * @module
 */
export * from "./bc.ts";
export * from "./config.ts";
export * from "./iql.ts";
