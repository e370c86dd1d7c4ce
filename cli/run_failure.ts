import { UsageError } from "./usage_error.ts";

/** What ends a run that began well: not a mistake of the input. */
export class RunFailure extends Error {
  /** The error's name. */
  override readonly name: string = "RunFailure";
}

/** What ends a resume before it began: its checkpoint could not be restored. */
export class RestoreFailure extends UsageError {}
