type Types = readonly Deno.NativeType[];

/** Declares a function of a C library: its result, then its parameters. */
export function foreign<
  const R extends Deno.NativeResultType,
  const P extends Types,
>(result: R, ...parameters: P): { parameters: P; result: R } {
  return { parameters, result };
}

/** Declares a function that some versions of a library lack. */
export function optional<T>(declared: T): T & { optional: true } {
  return { ...declared, optional: true };
}
