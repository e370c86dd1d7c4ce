import { BinaryReader } from "@bufbuild/protobuf/wire";
import { readProgress } from "@bellman/training";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { logOf } from "../config/shared_folder.ts";
import { policyFile } from "../run/evaluation.ts";
import { evaluationEnvsFor } from "../run/environments.ts";
import { findAgent, type SavedAgent, withAgent } from "../run/find_agent.ts";
import type { RunSetup } from "../run/run_setup.ts";
import { messageOf } from "../terminal/errors.ts";
import type { CommandIo } from "../terminal/process.ts";
import { type CardClaims, cardText, readClaims } from "./card.ts";
import { playCard } from "./share_run.ts";
import {
  CARD_FILE,
  checkFilesOf,
  PICTURE_FILE,
  readShared,
} from "./shared_files.ts";

/** Most episodes that are played for a card of somebody else's. */
const MOST_EPISODES = 10_000;

/** Number of the field of an ONNX file that holds operations and weights. */
const GRAPH = 7;

/** Hashes the operations and weights of an ONNX file; the rest describes them. */
function graphOf(bytes: Uint8Array): string {
  const reader = new BinaryReader(bytes);
  const hash = createHash("sha256");
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (field === GRAPH) hash.update(reader.bytes());
    else reader.skip(wire, field);
  }
  return hash.digest("hex");
}

/**
 * Plays the card's episodes again, and as many others.
 *
 * @returns What the card should say, and lines about other episodes.
 */
async function playAgain(
  setup: RunSetup,
  claims: CardClaims,
  deterministic: boolean,
  io: CommandIo,
): Promise<{ played: CardClaims; problems: string[] }> {
  const { seed, episodes, low, high, engine } = claims.evaluation;
  const options = { deterministic, episodes };
  const again = await playCard(setup, { ...options, seed });
  const others = await playCard(setup, { ...options, seed: seed + 1 });
  // Other machines may compute other last bits.
  const isSame = again.engine === engine;
  if (!isSame) {
    io.err(
      `Compared by intervals: the card is of ${engine}, this is ${again.engine}\n`,
    );
  }
  const problems = [...isSame ? [] : [again], others]
    .filter((it) => !(it.low <= high && it.high >= low))
    .map((it) =>
      `${CARD_FILE}: the mean return is within [${low}, ${high}], from seed ${it.seed} on within [${it.low}, ${it.high}]`
    );
  return {
    played: isSame ? { ...claims, evaluation: again } : claims,
    problems,
  };
}

/** Most lines of a card that are named. */
const MOST_LINES = 10;

/** Lists the lines of a card that are others than the folder's files say. */
function differences(card: string, wanted: string): string[] {
  const [lines, expected] = [card, wanted].map((it) => it.split("\n"));
  return Array.from({ length: Math.max(lines.length, expected.length) })
    .flatMap((_, i) =>
      lines[i] === expected[i]
        ? []
        : [`${CARD_FILE}: '${lines[i] ?? ""}', expected '${expected[i] ?? ""}'`]
    ).slice(0, MOST_LINES);
}

async function checkAgent(
  agent: SavedAgent,
  io: CommandIo,
): Promise<string[]> {
  const { dir, folder, config, checkpoint: { step, notes } } = agent;
  const textOf = (name: string) =>
    new TextDecoder().decode(readShared(dir, name));
  const card = textOf(CARD_FILE), claims = readClaims(card);
  const { episodes, seed } = claims.evaluation;
  if (
    ![seed, episodes].every(Number.isSafeInteger) || seed < 0 || episodes < 1 ||
    episodes > MOST_EPISODES
  ) {
    return [`${CARD_FILE}: it is of ${episodes} episodes from seed ${seed}`];
  }
  readProgress(logOf(folder));
  const problems = textOf("config.yaml") === notes.config
    ? []
    : ["config.yaml is not the configuration of agent.safetensors"];
  const deterministic = config.evaluationDeterministic;
  await withAgent(agent, io, async (setup) => {
    const policy = policyFile(setup, { deterministic });
    const given = graphOf(readShared(dir, "policy.onnx"));
    if (policy === undefined || graphOf(policy) !== given) {
      problems.push("policy.onnx is another policy than agent.safetensors");
    }
    const found = await playAgain(setup, claims, deterministic, io);
    const hasPicture = existsSync(join(dir, PICTURE_FILE));
    const wanted = cardText(found.played, { step, notes, hasPicture });
    problems.push(...differences(card, wanted), ...found.problems);
  }, evaluationEnvsFor(episodes));
  return problems;
}

/**
 * Checks that a shared folder holds what its card claims.
 *
 * @param dir The folder.
 * @param options True where its modules may be imported, and streams to print to.
 * @returns A line for each claim that does not hold.
 * @throws {UsageError} If there is no such folder.
 */
export async function checkShared(
  dir: string,
  { isTrusted, io }: { isTrusted: boolean; io: CommandIo },
): Promise<string[]> {
  const damage = checkFilesOf(dir);
  // Nothing of other bytes is opened.
  if (damage.length > 0) return damage;
  const switches = new Set(isTrusted ? ["trust"] : []);
  const given = { positionals: [dir], switches, values: new Map() };
  try {
    return await checkAgent(findAgent(given, "check"), io);
  } catch (error) {
    return [messageOf(error)];
  }
}
