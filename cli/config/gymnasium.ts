/** Prefix of the ids of environments that Python's Gymnasium hosts. */
export const GYMNASIUM = "gym:";

/** Environments that Gymnasium has and Bellman has not, without versions. */
const NAMES: ReadonlySet<string> = new Set([
  "BipedalWalker",
  "BipedalWalkerHardcore",
  "Blackjack",
  "CarRacing",
  "CliffWalking",
  "FrozenLake",
  "FrozenLake8x8",
  "LunarLander",
  "LunarLanderContinuous",
  "Taxi",
]);

/** Returns the id with its prefix, if it is known to be one of Gymnasium's own. */
export function gymnasiumId(id: string): string | undefined {
  return NAMES.has(id.replace(/-v\d*$/, "")) ? GYMNASIUM + id : undefined;
}
