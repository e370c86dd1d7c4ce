import type { RestartEvent } from "./restart_event.ts";

/** How a {@linkcode HostedVecEnv} deals with hosts that fail. */
export interface HostedVecEnvOptions {
  /**
   * How long a host may take to do what it is asked, in milliseconds; where a
   * restore plays episodes again, that long for each action.
   *
   * @default 60_000
   */
  stepTimeoutMs?: number;
  /**
   * How long a host may take to start and to make its copies, in milliseconds.
   *
   * @default 120_000
   */
  startTimeoutMs?: number;
  /**
   * How often a group may be restarted within the window before it is an error.
   *
   * @default 10
   */
  restarts?: number;
  /**
   * The window, in milliseconds.
   *
   * @default 600_000
   */
  windowMs?: number;
  /**
   * What is told of a restart, before it is done. If it throws, that is the end
   * of the environment: the error reaches the caller, now and ever after.
   *
   * @default a function that prints a line to stderr, and where the host threw
   */
  onRestart?: (event: RestartEvent) => void;
}
