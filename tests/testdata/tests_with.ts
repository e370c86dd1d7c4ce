/**
 * Returns how to add tests that need something: their names end with it, and
 * where it is missing they are ignored.
 */
export function testsWith(what: string, isThere: boolean) {
  return (name: string, run: () => void | Promise<void>) =>
    Deno.test(`${name} [${what}]`, { ignore: !isThere }, run);
}
