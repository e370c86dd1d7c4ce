import { AreaResizer } from "../atari/preprocess/area_resizer.ts";
import type { RenderOptions, RgbImage, StateTree } from "@bellman/types";
import { EnvDataError } from "../env_data_error.ts";
import type {
  GroupAnswer,
  GroupArrays,
  GroupCommand,
} from "../workers/group_hosts.ts";
import { allocateArrays } from "../workers/_group_arrays.ts";
import { waitForAll } from "../workers/_supervisor.ts";
import { checkCount } from "../workers/restarts.ts";
import { HostFailure, timed } from "../workers/host_failure.ts";
import type { HostCommand } from "../workers/threads/_worker_messages.ts";
import {
  type GymnasiumAnswer,
  GymnasiumHosts,
  type GymnasiumHostsOptions,
} from "./_gymnasium_hosts.ts";

/** One Python process, which is not replaced: where it fails, it fails from then on. */
export class PythonHost {
  /** What it told of its environments. */
  readonly opened: NonNullable<GroupAnswer["opened"]>;
  /** Numbers of the newest step. */
  readonly arrays: GroupArrays;
  #id: string;
  #hosts: GymnasiumHosts;
  #stepTimeoutMs: number;
  #broken: Error | undefined;

  /** Starts Python and waits until it has made so many environments. */
  constructor(
    id: string,
    { numEnvs, ...options }:
      & Omit<GymnasiumHostsOptions, "groups" | "resets" | "draws">
      & { numEnvs: number },
  ) {
    const { startTimeoutMs = 120_000, stepTimeoutMs = 60_000 } = options;
    checkCount("stepTimeoutMs", stepTimeoutMs, 1);
    checkCount("startTimeoutMs", startTimeoutMs, 1);
    this.#id = id;
    this.#stepTimeoutMs = stepTimeoutMs;
    this.#hosts = new GymnasiumHosts(id, {
      ...options,
      groups: [{ first: 0, numEnvs }],
      resets: false,
      draws: true,
    });
    this.#hosts.start(0);
    try {
      const answer = this.ask("start", { type: "open" }, startTimeoutMs);
      this.opened = answer.opened!;
    } catch (error) {
      this.#hosts.close();
      throw error;
    }
    this.arrays = allocateArrays(this.opened, numEnvs);
    this.#hosts.attach([this.arrays]);
  }

  /** Asks something, waits for the answer, and tells clearly what went wrong. */
  ask(
    action: string,
    command: HostCommand,
    timeoutMs: number = this.#stepTimeoutMs,
  ): GymnasiumAnswer {
    if (this.#broken !== undefined) throw this.#broken;
    this.#hosts.begin(0, command);
    waitForAll(this.#hosts, [0], timeoutMs);
    try {
      return this.#hosts.finish(0);
    } catch (error) {
      if (!(error instanceof HostFailure)) throw error;
      throw this.#explain(error, action, timeoutMs);
    }
  }

  /** Saves where the episodes began, and the actions since. */
  save(): StateTree {
    return this.ask("take a snapshot of", { type: "save" }).snapshot!;
  }

  /** Plays the episodes of a saved state again. */
  load(snapshot: StateTree): void {
    const command: GroupCommand = { type: "load", snapshot };
    const patience = this.#hosts.patience(0, command);
    this.ask("restore", command, patience * this.#stepTimeoutMs);
  }

  /** Draws an environment, by default in its own size. */
  render(env: number, options: RenderOptions): RgbImage {
    const picture = this.ask("render", { type: "render", env }).picture!;
    const { width = picture.width, height = picture.height } = options;
    if (width === picture.width && height === picture.height) return picture;
    const to = { width, height };
    const resizer = new AreaResizer(picture, to, { channels: 3 });
    return { ...to, data: resizer.resize(picture.data) };
  }

  /** Ends the process. */
  close(): void {
    this.#broken ??= new TypeError(`Cannot use ${this.#id}, which was closed`);
    this.#hosts.close();
  }

  #explain(failure: HostFailure, action: string, timeoutMs: number): Error {
    if (failure.reason === "error") return this.#explainThrown(failure, action);
    const why = timed(failure, timeoutMs).what;
    this.#broken = new Error(`Cannot ${action} ${this.#id}: ${why}`, {
      cause: failure,
    });
    return this.#broken;
  }

  /** Explains what Python threw; the environment continues. */
  #explainThrown(failure: HostFailure, action: string): Error {
    const isWhole = failure.isWhole || failure.thrown === EnvDataError.name;
    if (isWhole) return failure.toThrow();
    return new Error(
      `Cannot ${action} ${this.#id}: Python raised ${failure.thrown}: ${failure.message}`,
      { cause: failure },
    );
  }
}
