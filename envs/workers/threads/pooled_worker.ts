import type { GroupAnswer, GroupCommand } from "../group_hosts.ts";

/**
 * One worker of a `WorkerPool`, which carries out one command after the other; the
 * first one, `open`, without being told.
 */
export interface WorkerHandle {
  /** True where it has answered or ended. */
  readonly isReady: boolean;
  /** True where nothing of it is left, or nothing that has to be waited for. */
  readonly hasEnded: boolean;
  /** Heartbeats so far: a command may take as long as there are some. */
  readonly heartbeats: number;
  /**
   * Sends it a command. It neither waits nor throws.
   *
   * @param command The command.
   */
  begin(command: GroupCommand): void;
  /**
   * Ends its command. Of one that is not ready nothing arrives afterwards.
   *
   * @returns Its answer.
   * @throws {HostFailure} If it threw, ended, or has not answered.
   */
  finish(): GroupAnswer;
  /** Gives it up: what it was doing is lost. */
  drop(): void;
}

/** Workers of a `WorkerPool` that are no threads of this process. */
export interface RemoteWorkers {
  /** Number of the first of them; those before are threads. */
  readonly first: number;
  /**
   * Starts one in the place of the one before; it does not wait.
   *
   * @param worker Its number.
   * @returns The worker.
   */
  start(worker: number): WorkerHandle;
  /** Takes what they have sent, and answers their questions; it does not wait. */
  serve(): void;
  /** Ends all; nothing is left of them. */
  close(): void;
}
