import { BinaryReader } from "@bufbuild/protobuf/wire";
import { readProgress } from "@bellman/training";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { evaluationEnvsFor } from "../run/environments.ts";
import { policyFile } from "../run/evaluation.ts";
import { findAgent, type SavedAgent, withAgent } from "../run/find_agent.ts";
import type { RunSetup } from "../run/run_setup.ts";
import { isShared, logOf } from "../run/shared_agent.ts";
import { messageOf } from "../terminal/errors.ts";
import type { CommandIo } from "../terminal/process.ts";
import {
  type CardClaims,
  type CardEvaluation,
  cardText,
  readClaims,
} from "./card.ts";
import {
  CARD_FILE,
  checkFilesOf,
  PICTURE_FILE,
  readShared,
} from "./shared_files.ts";
import { playCard } from "./share_run.ts";
import { sourceOf } from "./source.ts";

/** Most episodes that are played for a card of somebody else's. */
const MOST_EPISODES = 10_000;

/** Compares two numbers to the last bit. */
function differences(
  claimed: CardEvaluation,
  played: CardEvaluation,
): string[] {
  const keys = Object.keys(claimed) as (keyof CardEvaluation)[];
  return keys.filter((key) => !Object.is(claimed[key], played[key]))
    .map((key) =>
      `${CARD_FILE}: ${key} is ${claimed[key]}, played again it is ${
        played[key]
      }`
    );
}

/** Plays the card's episodes again, and as many others. */
async function checkNumbers(
  setup: RunSetup,
  { evaluation }: CardClaims,
  deterministic: boolean,
  io: CommandIo,
): Promise<string[]> {
  const { seed, episodes, low, high, engine } = evaluation;
  const again = await playCard(setup, { seed, deterministic, episodes });
  const others = await playCard(setup, {
    seed: seed + 1,
    deterministic,
    episodes,
  });
  const isSame = again.engine === engine;
  if (!isSame) {
    io.err(
      `Not compared to the last bit: the numbers are of ${engine}, this is ${again.engine}\n`,
    );
  }
  const apart = (isSame ? [others] : [others, again])
    .filter((it) => it.low > high || it.high < low)
    .map((it) =>
      `${CARD_FILE}: the mean return is in [${low}, ${high}], over the episodes from seed ${it.seed} it is in [${it.low}, ${it.high}]`
    );
  return [...isSame ? differences(evaluation, again) : [], ...apart];
}

/** Compares the card with what its claims and the other files make of it. */
function checkText(text: string, wanted: string): string[] {
  const [lines, expected] = [text, wanted].map((it) => it.split("\n"));
  const at = Array.from(
    { length: Math.max(lines.length, expected.length) },
    (_, i) => i,
  ).find((i) => lines[i] !== expected[i]);
  return at === undefined ? [] : [
    `${CARD_FILE}: line ${at + 1} is ${JSON.stringify(lines[at] ?? "")}, ${
      JSON.stringify(expected[at] ?? "")
    } by the folder's files`,
  ];
}

/** Number of the field of an ONNX file that holds operations and weights. */
const GRAPH = 7;

/** Reads the operations and weights of an ONNX file; the rest describes them. */
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

function isGif(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.subarray(0, 6)) === "GIF89a" &&
    bytes.at(-1) === 0x3b;
}

async function checkAgent(
  agent: SavedAgent,
  io: CommandIo,
): Promise<string[]> {
  const { dir, folder, checkpoint: { step, notes } } = agent;
  const text = new TextDecoder().decode(readShared(dir, CARD_FILE));
  const claims = readClaims(text);
  const { episodes, seed } = claims.evaluation;
  const isCount = (it: number) => Number.isSafeInteger(it) && it >= 0;
  if (!isCount(seed) || !isCount(episodes - 1) || episodes > MOST_EPISODES) {
    throw new SyntaxError(
      `${CARD_FILE}: it is of ${episodes} episodes from seed ${seed}`,
    );
  }
  const configText = new TextDecoder().decode(readShared(dir, "config.yaml"));
  const problems: string[] = [];
  if (configText !== notes.config) {
    problems.push("config.yaml is not the configuration of agent.safetensors");
  }
  readProgress(logOf(folder));
  const hasPicture = existsSync(join(dir, PICTURE_FILE));
  if (hasPicture && !isGif(readShared(dir, PICTURE_FILE))) {
    problems.push(`${PICTURE_FILE} is no GIF`);
  }
  const files = { has: (name: string) => existsSync(join(dir, name)) };
  const source = sourceOf(String(notes.config), { step, notes, files });
  problems.push(...checkText(text, cardText(claims, source)));
  const deterministic = source.config.evaluationDeterministic === true;
  await withAgent(agent, io, async (setup) => {
    const policy = readShared(dir, "policy.onnx");
    const exported = policyFile(setup, { deterministic });
    if (exported === undefined || graphOf(policy) !== graphOf(exported)) {
      problems.push("policy.onnx is another policy than agent.safetensors");
    }
    problems.push(...await checkNumbers(setup, claims, deterministic, io));
  }, evaluationEnvsFor(episodes));
  return problems;
}

/**
 * Checks that a shared folder holds what its card claims.
 *
 * @param dir The folder.
 * @param options True where modules of it may be imported.
 * @param io Streams to print to.
 * @returns A line for each claim that does not hold.
 * @throws {UsageError} If there is no such folder.
 */
export async function checkShared(
  dir: string,
  { isTrusted }: { isTrusted: boolean },
  io: CommandIo,
): Promise<string[]> {
  const damage = checkFilesOf(dir);
  // Nothing of other bytes is opened.
  if (damage.length > 0) return damage;
  try {
    if (!isShared(dir)) throw new SyntaxError("it has checkpoints");
    const switches = new Set(isTrusted ? ["trust"] : []);
    const given = { positionals: [dir], switches, values: new Map() };
    return await checkAgent(findAgent(given, "check"), io);
  } catch (error) {
    return [messageOf(error)];
  }
}
