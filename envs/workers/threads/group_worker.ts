/**
 * Program of a worker of a {@linkcode WorkerVecEnv}. To import it does nothing:
 * the caller does that too, so that nothing is to be downloaded in a worker
 * while the caller, whose event loop downloads, waits for it.
 */
import { GroupRunner } from "../_group_runner.ts";
import type { GroupArrays, GroupRange } from "../group_hosts.ts";
import { type CheckedSource, makeGroup } from "../group_source.ts";
import { serveWorker } from "./serve_worker.ts";

/** Environments of a worker. */
export interface WorkerGroup {
  readonly source: CheckedSource;
  readonly range: GroupRange;
  /** Arrays of the group, where they are allocated by now. */
  readonly arrays: GroupArrays | undefined;
}

/** Hosts the group that this worker was made for. */
export function main(): void {
  serveWorker<WorkerGroup>(async ({ source, range, arrays }) => {
    const runner = new GroupRunner(await makeGroup(source, range), range.first);
    if (arrays !== undefined) runner.attach(arrays);
    return runner;
  });
}
