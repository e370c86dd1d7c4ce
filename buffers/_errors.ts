/** The same kind of error with another message: where a caller knows more than who threw it. */
export function reworded(
  error: unknown,
  reword: (message: string) => string,
): unknown {
  if (!(error instanceof Error)) return error;
  const known = [TypeError, RangeError, SyntaxError];
  const errorClass = known.find((it) => error instanceof it) ?? Error;
  return new errorClass(reword(error.message), { cause: error });
}
