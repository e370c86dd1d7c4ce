import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { hintAt } from "@bellman/files/options";
import { UsageError } from "../program/errors.ts";

/** Prefix of trained agents in the repository's zoo. */
export const ZOO = "zoo:";

const FOLDER = new URL("../../../zoo/", import.meta.url);

/** Agent of the zoo. */
export interface ZooAgent {
  /** Name without the prefix: algorithm and environment. */
  name: string;
  /** Folder of the agent. */
  dir: string;
}

function foldersIn(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((it) => it.isDirectory()).map(({ name }) => name).sort();
}

/**
 * Lists the agents of the zoo; empty outside of a clone of the repository.
 *
 * @example
 * ```ts
 * import { zooAgents } from "@bellman/runs/settings";
 * import { assert } from "@std/assert";
 *
 * assert(zooAgents().some(({ name }) => name === "a2c/CartPole-v1"));
 * ```
 */
export function zooAgents(): ZooAgent[] {
  if (FOLDER.protocol !== "file:") return [];
  const root = fileURLToPath(FOLDER).replace(/[/\\]$/, "");
  try {
    return foldersIn(root).flatMap((algorithm) =>
      foldersIn(`${root}/${algorithm}`).map((environment) => ({
        name: `${algorithm}/${environment}`,
        dir: `${root}/${algorithm}/${environment}`,
      }))
    );
  } catch {
    return [];
  }
}

/**
 * Returns the run folder for a command-line argument: a path, or an agent of the zoo,
 * such as `zoo:sac/Pendulum-v1` or `zoo:acer/gym:LunarLander-v3`.
 *
 * @throws {UsageError} If the zoo has no such agent; the message suggests the nearest.
 *
 * @example
 * ```ts
 * import { runDirOf } from "@bellman/runs/settings";
 * import { assertEquals, assertMatch } from "@std/assert";
 *
 * assertEquals(runDirOf("runs/first"), "runs/first");
 * assertMatch(runDirOf("zoo:a2c/CartPole-v1"), /zoo.a2c.CartPole-v1$/);
 * ```
 */
export function runDirOf(run: string): string {
  if (!run.startsWith(ZOO)) return run;
  const agents = zooAgents();
  // Folder names have no colons.
  const name = run.slice(ZOO.length).replaceAll(/[^\w./-]+/g, "-");
  const agent = agents.find((it) => it.name === name);
  if (agent !== undefined) return agent.dir;
  throw new UsageError(
    agents.length === 0
      ? `Cannot open '${run}': the zoo is in clones of the repository, and not here`
      : `Unknown agent '${run}': ${
        hintAt(run, agents.map((it) => ZOO + it.name))
      }`,
  );
}
