import {
  ChildEndedError,
  ChildTimeoutError,
  describeEnd,
} from "../_process/child_errors.ts";
import type { ChildGroup } from "../_process/child_group.ts";
import { HostFailure } from "./host_failure.ts";

/**
 * The answer of a host that is a child process, as far as there is one; in
 * memory that the next message overwrites.
 */
export function receiveAnswer(children: ChildGroup, group: number): Uint8Array {
  try {
    return children.receive(group, { timeoutMs: 0 });
  } catch (error) {
    if (error instanceof ChildEndedError) {
      const how = `its process ${describeEnd(error.end)}`;
      throw new HostFailure("exit", how, { stack: error.end.prints });
    }
    if (!(error instanceof ChildTimeoutError)) throw error;
    throw new HostFailure("timeout", "it is silent", { stack: error.prints });
  }
}
