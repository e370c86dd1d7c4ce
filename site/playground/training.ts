import { Agent } from "@bellman/agent";
import { make, makeVec, SyncVecEnv } from "@bellman/envs";
import { writeState } from "@bellman/files";
import {
  type Callback,
  type CheckpointInfo,
  CheckpointStore,
  type SaveOptions,
  train,
  type TrainResult,
} from "@bellman/training";
import type { Actor, Batch, RgbImage, StateTree, VecEnv } from "@bellman/types";
import { policyMetadata } from "../../lab/runs/settings/policy_metadata.ts";
import {
  type ScaledEnvironments,
  scaledEnvironments,
} from "../../lab/runs/training/scaled_environments.ts";
import type { Task } from "./settings.ts";

/** Keeps the last checkpoint in memory, where there are no files. */
class LastCheckpoint extends CheckpointStore {
  /** The last checkpoint; none before the first step. */
  last?: { step: number; state: StateTree; notes: SaveOptions["notes"] };

  /** Begins without one. */
  constructor() {
    super("");
  }

  override save(
    step: number,
    state: StateTree,
    { notes = {} }: SaveOptions = {},
  ): CheckpointInfo {
    this.last = { step, state, notes };
    return { step, path: "", best: false };
  }

  override list() {
    return { checkpoints: [], warnings: [] };
  }

  override truncate() {
    return [];
  }

  override notes() {
    return this.last?.notes ?? {};
  }
}

/** One environment in which the present policy is watched. */
interface Watched {
  readonly vec: VecEnv;
  readonly actor: Actor;
  observations: Batch;
  draw(): RgbImage;
}

/** Pixels of a picture. */
const SIZE = { width: 300, height: 200 };

/** A run that is trained in memory: it pauses, resumes and is saved. */
export class Training {
  readonly task: Task;
  readonly #agent: Agent;
  readonly #environments: ScaledEnvironments;
  readonly #store = new LastCheckpoint();
  #watched?: Watched;

  /**
   * Makes the environments and the agent; the backend has been selected.
   *
   * @param task Environment, algorithm and settings.
   */
  constructor(task: Task) {
    const { env, definition, settings } = task;
    const { numEnvs, seed, totalTimesteps } = settings;
    const { hasReplay = false } = definition.meta;
    const maxEpisodeSteps = settings.maxEpisodeSteps ?? undefined;
    this.task = task;
    this.#environments = scaledEnvironments(
      makeVec(env, { numEnvs, maxEpisodeSteps }),
      { ...settings, hasReplay },
    );
    const { training, normalization } = this.#environments;
    const keys = Object.keys(definition.meta.schema.properties);
    this.#agent = new Agent(definition, training, {
      config: Object.fromEntries(keys.map((key) => [key, settings[key]])),
      seed,
      totalTimesteps,
      engine: "eager",
      normalization,
    });
  }

  /**
   * Trains until the end or the signal, from where it was paused.
   *
   * @param options Signal, and what is called after each step.
   */
  async run(
    { signal, onStep }: { signal: AbortSignal } & Pick<Callback, "onStep">,
  ): Promise<TrainResult> {
    const { seed, totalTimesteps } = this.task.settings;
    return await train(this.#agent, this.#environments.training, {
      totalTimesteps,
      seed,
      signal,
      callbacks: onStep === undefined ? [] : [{ name: "page", onStep }],
      checkpoints: { store: this.#store },
      resumeFrom: this.#store.last?.state,
      // The same state has the same bytes, however fast it was reached.
      now: () => 0,
    });
  }

  /** Writes the present policy as an ONNX file, as `deno task export` does. */
  policyFile(): Uint8Array<ArrayBuffer> {
    const { definition, env, settings } = this.task;
    return this.#agent.exportPolicy({
      metadata: policyMetadata({
        algorithm: definition.meta.name,
        env,
        frameStack: settings.frameStack,
      }),
    });
  }

  /** Writes the state of the last pause or end, as a run folder's checkpoint. */
  async checkpointFile(): Promise<Uint8Array<ArrayBuffer>> {
    const { step, state, notes = {} } = this.#store.last!;
    const label = { step, best: false, notes };
    return await new Response(writeState(state, { notes: label })).bytes();
  }

  /** Environment steps of the last pause or end. */
  get savedStep(): number {
    return this.#store.last!.step;
  }

  /** Takes some steps with the present policy, and draws where they lead. */
  async watch(steps: number): Promise<RgbImage> {
    const watched = this.#watched ??= this.#beginWatching();
    const { vec, actor } = watched;
    for (let i = 0; i < steps; i++) {
      const step = vec.step(await actor.act(watched.observations));
      actor.observe?.(step);
      watched.observations = step.observations;
    }
    return watched.draw();
  }

  #beginWatching(): Watched {
    const { env, settings: { seed } } = this.task;
    const one = make(env);
    const vec = this.#environments.wrapped(new SyncVecEnv([() => one]));
    return {
      vec,
      actor: this.#agent.policy({ deterministic: true, numEnvs: 1, seed }),
      observations: vec.reset({ seed }),
      draw: () => one.render(SIZE),
    };
  }
}
