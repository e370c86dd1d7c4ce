/**
 * Asynchronous methods of Mnih et al. 2016: one-step Q-learning, one-step Sarsa, n-step
 * Q-learning and A3C, whose workers update shared parameters without locks (Hogwild).
 *
 * @example A worker's view of shared parameters
 * ```ts
 * import { Agent } from "@bellman/agent";
 * import { asyncQ, defaultAsyncConfig, SharedParameters } from "@bellman/async";
 * import { RandomStream, ravel, selectBackend } from "@bellman/compute";
 * import { makeVec } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const env = makeVec("CartPole-v1", { numEnvs: 1 });
 * const { model } = new Agent(asyncQ, env);
 * const first = ravel(model.init(new RandomStream(0))).dataSync();
 * const shared = SharedParameters.from(Float32Array.from(first), { ...defaultAsyncConfig, workers: 2 });
 * const workers = [0, 1].map((i) =>
 *   new Agent(asyncQ.with(() => shared.connect(i)), env, { seed: i })
 * );
 * for (const agent of workers) {
 *   agent.act(env.reset({ seed: 1 }));
 *   agent.observe(env.step(new Int32Array(1)));
 *   agent.update();
 * }
 * assertEquals(shared.steps, 2);
 * ```
 *
 * @module
 */
export * from "./actor_learner.ts";
export * from "./async_training.ts";
export * from "./config.ts";
export * from "./losses.ts";
export * from "./methods.ts";
export * from "./parameter_server.ts";
export * from "./presets.ts";
export * from "./remote_server.ts";
