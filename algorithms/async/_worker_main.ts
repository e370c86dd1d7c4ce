/** Program of a worker: an agent in an environment, which learns with shared memory. */
import { Agent, type AgentOptions, type WorkersRun } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
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

/**
 * Places of the words of all workers. `next` is the next step that is claimed, or
 * where they take turns, the next turn.
 */
export const WORD = { next: 0, limit: 1, wake: 2, events: 3 };

/** Places of the words of one worker: its state, and steps that it has begun. */
export const OWN = { state: 0, steps: 1 };

/** States of a worker. */
export const STATE = {
  /** Makes its environment and compiles. */
  starting: 0,
  /** Waits for its turn. */
  waiting: 1,
  /** Has reported, and waits for another limit. */
  parked: 2,
  /** Takes steps. */
  running: 3,
  /** Changes shared memory: it is not given up meanwhile. */
  changing: 4,
  /** Is given up: it changes nothing any more. */
  dropped: 5,
  /** Has ended, whatever ended it. */
  ended: 6,
};

/** Adds to a word, and wakes those that wait for it. */
export function signal(words: Int32Array, at: number): void {
  Atomics.add(words, at, 1);
  Atomics.notify(words, at);
}

/** Settings of all workers of a training. */
export interface FleetData extends
  Omit<
    WorkersRun,
    "config" | "source" | "spaces" | "onNotice" | "isForEvaluation"
  > {
  readonly method: string;
  readonly config: AsyncConfig;
  readonly source: CheckedSource;
  /** True to step each environment in a process of its own. */
  readonly isInProcess: boolean;
}

/** Everything that a worker is started with; the seed is its own. */
export interface WorkerData extends FleetData {
  readonly worker: number;
  readonly memory: ParameterMemory;
  /** Words of all workers. */
  readonly words: Int32Array;
  /** Words of this worker; its successor has others. */
  readonly own: Int32Array;
  /** Takes states to restore, or null; each is answered by the state after it. */
  readonly port: MessagePort;
}

/** Message of a worker. */
export interface FromWorker {
  readonly episodes?: readonly EpisodeStatistics[];
  readonly statistics?: Statistics;
  readonly state?: StateTree;
  /** Error that it ends by. */
  readonly failure?: string;
}

/** Error in a worker that was given up: what it was about to change stays. */
class DroppedError extends Error {}

class ActorLearnerWorker {
  readonly #data: WorkerData;
  readonly #shared: SharedParameters;
  readonly #isFixed: boolean;
  #env!: VecEnv;
  #agent!: Agent<AsyncConfig>;
  #episodes: EpisodeStatistics[] = [];
  #statistics: Statistics | undefined;

  constructor(data: WorkerData) {
    const { memory, config, workers } = data;
    this.#data = data;
    this.#shared = new SharedParameters(memory, { ...config, workers });
    this.#isFixed = config.workerOrder === "fixed";
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
    const failure = error instanceof Error ? error.message : String(error);
    this.#send({ failure });
    this.end();
  }

  /** Tells that the worker ends, whatever ends it. */
  end(): void {
    Atomics.store(this.#data.own, OWN.state, STATE.ended);
    this.#tell();
  }

  #send(message: FromWorker): void {
    this.#data.port.postMessage(message);
  }

  /** Wakes whoever directs the workers. */
  #tell(): void {
    signal(this.#data.words, WORD.events);
  }

  async #open(): Promise<void> {
    const { source, worker, seed, isInProcess, stepTimeoutMs } = this.#data;
    await selectBackend(this.#data.backend);
    const numEnvs = 1;
    const env = isInProcess
      ? new SubprocessVecEnv(source, { numEnvs, processes: 1, stepTimeoutMs })
      : await makeGroup(source, { numEnvs, first: worker });
    this.#env = new VecRecordEpisodeStatistics(env);
    this.#env.reset({ seed: deriveSeed(seed, 0) });
    const server = this.#shared.connect(worker, this.#guard);
    const options: AgentOptions<AsyncConfig> = { ...this.#data, threads: 1 };
    const definition = methodNamed(this.#data.method).with(server);
    this.#agent = new Agent<AsyncConfig>(definition, this.#env, options);
  }

  #work(): void {
    const { words, worker } = this.#data;
    const agent = this.#agent, env = this.#env;
    const passTurn = () => signal(words, WORD.next);
    let observations = env.observations();
    for (;;) {
      // Seen before what may be waited for.
      const wakes = Atomics.load(words, WORD.wake);
      if (!this.#claim()) {
        this.#report();
        if (this.#obey()) observations = env.observations();
        this.#become(STATE.parked);
        this.#tell();
        Atomics.wait(words, WORD.wake, wakes);
        continue;
      }
      const step = env.step(agent.act(observations));
      agent.observe(step);
      observations = step.observations;
      for (const episode of step.episodes ?? []) {
        this.#episodes.push({ ...episode, env: worker });
      }
      this.#statistics = agent.update() ?? this.#statistics;
      if (this.#isFixed) this.#guard(passTurn);
    }
  }

  /** Claims a step, or waits for its turn; false where none is left before the limit. */
  #claim(): boolean {
    const { words, own, worker, workers } = this.#data;
    for (;;) {
      const next = Atomics.load(words, WORD.next);
      const isMine = !this.#isFixed || next % workers === worker;
      const taken = this.#isFixed ? this.#shared.steps : next;
      if (taken >= Atomics.load(words, WORD.limit)) return false;
      this.#become(isMine ? STATE.running : STATE.waiting);
      if (!isMine) Atomics.wait(words, WORD.next, next);
      else if (
        this.#isFixed ||
        Atomics.compareExchange(words, WORD.next, next, next + 1) === next
      ) {
        Atomics.add(own, OWN.steps, 1);
        return true;
      }
    }
  }

  #report(): void {
    const episodes = this.#episodes.splice(0), statistics = this.#statistics;
    this.#statistics = undefined;
    if (episodes.length > 0 || statistics) this.#send({ episodes, statistics });
  }

  /** Carries out what was asked; true where another state was restored. */
  #obey(): boolean {
    const agent = this.#agent, env = this.#env;
    let isRestored = false;
    for (;;) {
      const received = receiveMessageOnPort(this.#data.port);
      if (received === undefined) return isRestored;
      const { message } = received as { message: StateTree };
      // It may hang over it, as over a step.
      this.#become(STATE.running);
      if (message !== null) {
        const saved = message as Record<string, StateTree>;
        agent.load(saved.agent);
        env.load(saved.env);
        isRestored = true;
      }
      this.#send({ state: { agent: agent.save(), env: env.save() } });
      this.#tell();
    }
  }

  /** Runs a change of shared memory whole, or throws where the worker was given up. */
  readonly #guard = (change: () => void): void => {
    this.#move(STATE.running, STATE.changing);
    change();
    this.#move(STATE.changing, STATE.running);
  };

  #become(state: number): void {
    const before = Atomics.load(this.#data.own, OWN.state);
    if (before >= STATE.dropped) throw new DroppedError();
    if (before !== state) this.#move(before, state);
  }

  #move(from: number, to: number): void {
    const { own } = this.#data;
    const before = Atomics.compareExchange(own, OWN.state, from, to);
    if (before !== from) throw new DroppedError();
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
