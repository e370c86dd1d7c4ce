import {
  type EnvSlice,
  type GroupAnswer,
  type GroupArrays,
  type GroupCommand,
  splitEnvs,
  type WorkerBackend,
} from "../group_hosts.ts";
import { GroupRunner } from "../_group_runner.ts";
import { type FailureReason, HostFailure } from "../host_failure.ts";
import { AsyncVecEnv } from "../async_vec_env.ts";
import type { HostOptions } from "../restarts.ts";
import type { VecEnv } from "@bellman/types";
import makeFragile from "./fragile_env.ts";

/** How a group fails when it is asked for something, if it does. */
export type Script = (asked: {
  group: number;
  type: GroupCommand["type"];
  /** Which host of the group it is; the first one is 1. */
  life: number;
}) => FailureReason | undefined;

/** Hosts in this very thread, whose groups fail as a script says. */
export class ScriptedHosts implements WorkerBackend {
  readonly groups: readonly EnvSlice[];
  /** Changes in mid-course. */
  script: Script = () => undefined;
  /** What was done, in words. */
  readonly log: string[] = [];
  isClosed = false;
  #make: (range: EnvSlice) => VecEnv;
  #lives: number[] = [];
  #runners: (GroupRunner | undefined)[] = [];
  #arrays: readonly GroupArrays[] | undefined;
  #asked: (GroupCommand | undefined)[] = [];

  constructor(
    make: (range: EnvSlice) => VecEnv,
    { numEnvs, groups }: { numEnvs: number; groups: number },
  ) {
    this.#make = make;
    this.groups = splitEnvs(numEnvs, groups);
  }

  start(group: number): void {
    this.#lives[group] = (this.#lives[group] ?? 0) + 1;
    this.#runners[group] = new GroupRunner(
      this.#make(this.groups[group]),
      this.groups[group].first,
    );
    if (this.#arrays) this.#runners[group].attach(this.#arrays[group]);
    this.#asked[group] = undefined;
  }

  attach(arrays: readonly GroupArrays[]): void {
    this.#arrays = arrays;
    arrays.forEach((it, group) => this.#runners[group]!.attach(it));
  }

  begin(group: number, command: GroupCommand): void {
    if (this.#asked[group] !== undefined) {
      throw new Error(`Group ${group} was asked two things at once`);
    }
    this.log.push(`${command.type} ${group}`);
    this.#asked[group] = command;
  }

  waitFor(_groups: readonly number[], _timeoutMs: number): boolean {
    return true;
  }

  finish(group: number): GroupAnswer {
    const command = this.#asked[group];
    if (command === undefined) {
      throw new Error(`Group ${group} was asked nothing`);
    }
    this.#asked[group] = undefined;
    const life = this.#lives[group], { type } = command;
    const reason = this.script({ group, type, life });
    if (reason !== undefined) {
      const thrown = { name: "RangeError", stack: "deep inside" };
      throw new HostFailure(reason, `${type} failed in life ${life}`, thrown);
    }
    const answer = this.#runners[group]!.run(command);
    if (type === "reset" || type === "step") this.#runners[group]!.write();
    return answer;
  }

  close(): void {
    this.isClosed = true;
  }
}

const QUIET: HostOptions = { onRestart: () => {}, restarts: Infinity };

/** Fragile copies whose groups fail as a script says. */
export function fragile(
  { numEnvs = 5, groups = 3, ...options }: HostOptions & {
    numEnvs?: number;
    groups?: number;
  } = {},
): { hosts: ScriptedHosts; env: AsyncVecEnv } {
  const hosts = new ScriptedHosts(makeFragile, { numEnvs, groups });
  return { hosts, env: new AsyncVecEnv(hosts, { ...QUIET, ...options }) };
}

/** Fails the next time that a group is asked for something, and only then. */
export function once(
  group: number,
  type: string,
  reason: FailureReason = "exit",
): Script {
  let isDue = true;
  return (asked) => {
    if (!isDue || asked.group !== group || asked.type !== type) return;
    isDue = false;
    return reason;
  };
}
