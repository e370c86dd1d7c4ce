import { HostFailure } from "../workers/host_failure.ts";

/** Makes a failure by a mistake of who uses this: another try brings the same. */
export function refusal(message: string): HostFailure {
  return new HostFailure("error", message, { name: "EnvDataError" });
}
