import { UsageError } from "../program/errors.ts";
import type { RunConfig } from "./run_config.ts";

/** Id of a game in a page or a program, whose agents `match:` lets play each other. */
const ID = /^(?:match:)?(?:page:|program:(.*))/s;

/** Returns true for the id of a game in a page or a program. */
export function isPage(id: string): boolean {
  return ID.test(id);
}

/** Returns the command of an id of a program. */
export function programOf(id: string): string | undefined {
  return ID.exec(id)?.[1];
}

/** Throws for settings that are of no use to a game in a page or a program. */
export function checkPageSettings(
  { env, vectorization, envModules, ...config }: RunConfig,
): void {
  const refuse = (setting: string, expected: string) =>
    new UsageError(`Cannot use ${setting} with ${env}: ${expected}`);
  if (vectorization !== "sync") {
    throw refuse(
      `vectorization: ${vectorization}`,
      "expected sync, as games are processes of their own",
    );
  }
  if (envModules.length > 0) {
    throw refuse("envModules", "the game is what its address or command names");
  }
  if (config.maxEpisodeSteps !== null) {
    throw refuse("maxEpisodeSteps", "its worlds truncate episodes themselves");
  }
  if (config.infoStatistics.length > 0) {
    throw refuse("infoStatistics", "its steps have no info");
  }
  if (config.videoInterval > 0) {
    throw refuse("videoInterval", "a game is drawn where it runs");
  }
}
