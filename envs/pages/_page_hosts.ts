import type { EnvSlice, GroupCommand } from "../workers/group_hosts.ts";
import { HostThread } from "../workers/processes/host_thread.ts";
import { WorkerHosts } from "../workers/threads/_worker_hosts.ts";
import type { PageGroup } from "./_page_worker.ts";

/** The module of the thread that speaks to the games. */
const THREAD = import.meta.resolve("./_page_worker.ts");

/** A world as a game saves it: its own affair, but for how many steps are played again. */
interface SavedWorld {
  readonly steps?: number;
}

/** How much longer than an agent's a person's step may take. */
const PERSON = 100;

/** Groups in pages or programs. */
export class PageHosts extends WorkerHosts {
  constructor(
    groups: readonly EnvSlice[],
    data: Omit<PageGroup, "range" | "arrays">,
  ) {
    super({ groups, data, launcher: new HostThread(THREAD) });
  }

  /** Returns more for a restore that plays actions again, and for people. */
  patience(_group: number, command: GroupCommand): number {
    if (command.type === "watch") return PERSON;
    if (command.type !== "load") return 1;
    const { worlds } = command.snapshot as unknown as {
      worlds: readonly SavedWorld[];
    };
    return Math.max(1, ...worlds.map(({ steps = 0 }) => 1 + Number(steps)));
  }
}
