/**
 * What is pressed after a reset: FIRE, and then the action after it as well,
 * with which some games go on. Nothing where FIRE is not among the actions.
 */
export function fireActions(meanings: readonly string[]): number[] {
  const fire = meanings.indexOf("FIRE");
  if (fire < 0) return [];
  return [fire, fire + 1].filter((it) => it < meanings.length);
}
