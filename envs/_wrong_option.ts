const ON_ONE_LINE = { compact: true, breakLength: Infinity };

/** What to say of an option's value that cannot be. */
export function wrongOption(
  what: string,
  [name, value]: readonly [name: string, value: unknown],
  expected: string,
): string {
  return `Cannot make ${what} with ${name} ${
    Deno.inspect(value, ON_ONE_LINE)
  }: expected ${expected}`;
}
