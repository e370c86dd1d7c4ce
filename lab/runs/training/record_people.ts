import { makeVec, makeWorld, Recorder } from "@bellman/envs";
import type { RowsWorld } from "@bellman/envs/games";
import { EventLoopBreak } from "@bellman/training";
import type { VecEnv } from "@bellman/types";
import { EpisodeWriter } from "../play/episode_writer.ts";
import { UsageError } from "../program/errors.ts";
import { isPage } from "../settings/pages.ts";
import { resolveConfig } from "../settings/resolve.ts";
import { loadEnvironment } from "./environment_modules.ts";
import { isGame } from "./games.ts";
import type { RecordRunsOptions } from "./record_runs.ts";

/**
 * Lets people play a game in a page or a program, which has a `watch`, and writes their
 * episodes as `recordRuns` does: of `match:` one of each seat. The address of the page is
 * printed, for the people to open.
 *
 * @param id Id of the game, such as `page:http://127.0.0.1:5173/`.
 * @param options Folder, number of episodes, and the seed, 0 by default.
 * @returns The writer, with the numbers of what was recorded.
 * @throws {UsageError} If it is no such game, or the folder exists and may not.
 *
 * @example
 * ```ts
 * import { recordPeople } from "@bellman/runs/training";
 * import { assertRejects } from "@std/assert";
 *
 * const record = () => recordPeople("CartPole-v1", { out: "demo", episodes: 1 });
 * await assertRejects(record, Error, "expected a game in a page");
 * ```
 */
export async function recordPeople(
  id: string,
  options:
    & Omit<RecordRunsOptions, "maxSteps" | "onNotice">
    & { readonly seed?: number },
): Promise<EpisodeWriter> {
  const { out, episodes, seed = 0, signal, onStep } = options;
  if (!isPage(id)) {
    throw new UsageError(
      `Cannot record people in ${id}: expected a game in a page, such as page:http://127.0.0.1:5173/, or 'play ${id} --human --record ${out}'`,
    );
  }
  const config = resolveConfig("ppo", {
    entries: [["env", id], ["browser", "none"]],
  });
  await loadEnvironment(config);
  const env = rowsOf(id), turn = new EventLoopBreak();
  try {
    const recorder = new Recorder(env);
    const writer = await EpisodeWriter.open(out, env, options);
    recorder.reset({ seed: seed + writer.before });
    try {
      for (let step = 1; writer.episodes < episodes; step++) {
        recorder.step(env.watch());
        writer.take(recorder.episodes);
        onStep?.(writer, step);
        // Nobody wants to play an episode again that was lost.
        await writer.save();
        if (!turn.due()) continue;
        await turn.take();
        if (signal?.aborted) break;
      }
    } finally {
      writer.close();
    }
    return writer;
  } finally {
    env.close();
  }
}

/** Makes the rows of one world: one, or a seat's each. */
function rowsOf(id: string) {
  const env = isGame({ env: id })
    ? (makeWorld(id, { numEnvs: 1 }) as RowsWorld).env
    : makeVec(id, { numEnvs: 1, recordEpisodes: false });
  return env as VecEnv & { watch(): never };
}
