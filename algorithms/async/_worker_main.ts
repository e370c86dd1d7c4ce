/** Program of a worker: an agent in an environment, which learns with shared memory. */
import { Agent, type AgentOptions } from "@bellman/agent";
import { type BackendName, type Engine, selectBackend } from "@bellman/compute";
import { deriveSeed, VecRecordEpisodeStatistics } from "@bellman/envs";
import {
  type CheckedSource,
  makeGroup,
  SubprocessVecEnv,
} from "@bellman/envs/workers";
import type {
  EpisodeStatistics,
  StateTree,
  Statistics,
  VecEnv,
} from "@bellman/types";
import process from "node:process";
import {
  type MessagePort,
  receiveMessageOnPort,
  workerData,
} from "node:worker_threads";
import type { AsyncConfig } from "./config.ts";
import { methodNamed } from "./methods.ts";
import { type ParameterMemory, SharedParameters } from "./parameter_server.ts";
import {
  type ControlMemory,
  DroppedError,
  WorkerControl,
} from "./worker_control.ts";

/** Everything that a worker is started with. */
export interface WorkerData {
  readonly port: MessagePort;
  readonly control: ControlMemory;
  readonly memory: ParameterMemory;
  readonly worker: number;
  readonly workers: number;
  readonly method: string;
  readonly config: AsyncConfig;
  readonly totalTimesteps: number;
  /** Seed of this worker. */
  readonly seed: number;
  readonly source: CheckedSource;
  /** True to step the environment in a process of its own. */
  readonly isInProcess: boolean;
  readonly stepTimeoutMs: number;
  readonly engine: Engine;
  readonly backend: BackendName;
}

/** Message to a worker. */
export type ToWorker = { type: "save" } | { type: "load"; state: StateTree };

/** Message of a worker. */
export type FromWorker =
  | { type: "report"; episodes: EpisodeStatistics[]; statistics?: Statistics }
  | { type: "state"; state: StateTree }
  | { type: "failed"; message: string };

class ActorLearnerWorker {
  readonly #data: WorkerData;
  readonly #control: WorkerControl;
  readonly #shared: SharedParameters;
  #env!: VecEnv;
  #agent!: Agent<AsyncConfig>;
  #episodes: EpisodeStatistics[] = [];
  #statistics: Statistics | undefined;

  constructor(data: WorkerData) {
    const { memory, config, workers } = data;
    this.#data = data;
    this.#shared = new SharedParameters(memory, { ...config, workers });
    this.#control = new WorkerControl(data.control, {
      ...data,
      isDeterministic: config.workerOrder === "fixed",
      steps: () => this.#shared.steps,
    });
  }

  /** Takes steps until it is given up or something fails. */
  async run(): Promise<void> {
    try {
      await this.#open();
      this.#work();
    } catch (error) {
      this.fail(error);
    }
    setTimeout(() => process.exit());
  }

  /** Tells of an error. */
  fail(error: unknown): void {
    if (error instanceof DroppedError) return;
    const message = error instanceof Error ? error.message : String(error);
    this.#send({ type: "failed", message });
    this.#control.end();
  }

  /** Tells that the worker ends, whatever ends it. */
  end(): void {
    this.#control.end();
  }

  #send(message: FromWorker): void {
    this.#data.port.postMessage(message);
  }

  async #open(): Promise<void> {
    const { source, worker, seed, isInProcess, stepTimeoutMs } = this.#data;
    await selectBackend(this.#data.backend);
    const range = { numEnvs: 1, first: worker };
    const env = isInProcess
      ? new SubprocessVecEnv(source, {
        numEnvs: 1,
        processes: 1,
        stepTimeoutMs,
      })
      : await makeGroup(source, range);
    this.#env = new VecRecordEpisodeStatistics(env);
    this.#env.reset({ seed: deriveSeed(seed, 0) });
    const server = this.#shared.connect(worker, this.#control.guard);
    const options: AgentOptions<AsyncConfig> = { ...this.#data, threads: 1 };
    const definition = methodNamed(this.#data.method).with(server);
    this.#agent = new Agent<AsyncConfig>(definition, this.#env, options);
  }

  #work(): void {
    const control = this.#control, agent = this.#agent, env = this.#env;
    let observations = env.observations();
    for (;;) {
      const seen = control.wakes;
      if (!control.claim()) {
        this.#report();
        if (this.#obey()) observations = env.observations();
        control.park(seen);
        continue;
      }
      const step = env.step(agent.act(observations));
      agent.observe(step);
      observations = step.observations;
      for (const episode of step.episodes ?? []) {
        this.#episodes.push({ ...episode, env: this.#data.worker });
      }
      this.#statistics = agent.update() ?? this.#statistics;
      control.endStep();
    }
  }

  #report(): void {
    if (this.#episodes.length === 0 && this.#statistics === undefined) return;
    const episodes = this.#episodes.splice(0), statistics = this.#statistics;
    this.#statistics = undefined;
    this.#send({ type: "report", episodes, statistics });
  }

  /** Carries out what was asked; true where another state was restored. */
  #obey(): boolean {
    let isRestored = false;
    for (;;) {
      const received = receiveMessageOnPort(this.#data.port);
      if (received === undefined) return isRestored;
      const message = (received as { message: ToWorker }).message;
      isRestored ||= message.type === "load";
      this.#control.work(() => {
        if (message.type === "load") this.#load(message.state);
        const state = { agent: this.#agent.save(), env: this.#env.save() };
        this.#send({ type: "state", state });
      });
    }
  }

  #load(state: StateTree): void {
    const { agent, env } = state as Record<string, StateTree>;
    this.#agent.load(agent);
    this.#env.load(env);
  }
}

/** Runs the worker that this thread was made for. */
export function main(): void {
  const worker = new ActorLearnerWorker(workerData as WorkerData);
  // Either may come alone, as in the workers of environments.
  addEventListener("unload", () => worker.end());
  process.on("exit", () => worker.end());
  for (const type of ["unhandledrejection", "error"] as const) {
    addEventListener(type, (event) => {
      event.preventDefault();
      worker.fail("reason" in event ? event.reason : event.error);
      process.exit();
    });
  }
  setTimeout(() => worker.run());
}
