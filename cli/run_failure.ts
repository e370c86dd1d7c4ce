/** What ends a run that began well: not a mistake of the input. */
export class RunFailure extends Error {
  /** The error's name. */
  override readonly name: string = "RunFailure";
}
