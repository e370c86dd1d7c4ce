/** The options without those that are undefined, which are as left out. */
export function givenOptions<T extends object>(options: T): T {
  const given = Object.entries(options).filter(([, it]) => it !== undefined);
  return Object.fromEntries(given) as T;
}
