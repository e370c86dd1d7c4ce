import { BinaryReader } from "@bufbuild/protobuf/wire";
import { studentInterval } from "@bellman/statistics";
import { readProgress } from "@bellman/training";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { logOf, writeYaml } from "@bellman/runs/settings";
import {
  findAgent,
  policyFile,
  type RunSetup,
  type SavedAgent,
  withAgent,
} from "@bellman/runs/training";
import { messageOf } from "@bellman/runs/program";
import {
  type CardClaims,
  type CardEvaluation,
  cardText,
  readClaims,
  uncheckedOf,
} from "./card.ts";
import {
  EPISODES,
  playCard,
  type PlayedCard,
  type ShareOptions,
} from "./share_run.ts";
import {
  CARD_FILE,
  checkFilesOf,
  PICTURE_FILE,
  readShared,
} from "./shared_files.ts";

/** Field number of an ONNX file's graph. */
const GRAPH = 7;

/** Hashes the operations and weights of an ONNX file, without its metadata. */
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

/** Probability that a true claim passes the check of a number. */
const LEVEL = 0.999;

/** Number of failures that a rate of 0 in other episodes cannot rule out: the rule of three. */
const FEW = 3;

/** Half the width of a mean's interval, in population standard deviations. */
function halfWidth(episodes: number, level?: number): number {
  if (episodes === 1) return 0;
  // Any values do, as the interval is proportional to their standard deviation.
  const values = Array.from({ length: episodes }, (_, i) => i === 0 ? 1 : 0);
  const { mean, interval } = studentInterval(values, { level });
  return (interval![1] - mean) / Math.sqrt(mean * (1 - mean));
}

/**
 * Returns the likely range of a claim's mean, from other episodes of the same agent: no
 * claim can widen it.
 */
function likelyMean(
  values: readonly number[],
  { episodes, slack }: { episodes: number; slack?: number },
): [low: number, high: number] {
  const { mean, interval } = studentInterval(values, { level: LEVEL });
  const half = Math.max(
    (interval![1] - mean) * Math.sqrt(1 + values.length / episodes),
    // Tolerance for last bits of actions, if all episodes are equal.
    slack ?? 1e-3 * Math.abs(mean),
  );
  return [mean - half, mean + half];
}

/** Lists claims of another machine that the episodes played here make unlikely. */
function unlikely(
  claimed: CardEvaluation,
  played: readonly PlayedCard[],
): string[] {
  const { episodes, deviation } = claimed;
  const returns = played.flatMap((it) => it.returns);
  const count = returns.length, { mean } = studentInterval(returns);
  const problems: string[] = [];
  const expect = (
    name: string,
    value: number,
    [low, high]: readonly [number, number],
  ) => {
    if (value >= low && value <= high) return;
    problems.push(
      `${CARD_FILE}: the ${name} is ${value}, after ${count} episodes here it is likely within [${low}, ${high}]`,
    );
  };
  const share = (name: string, value: number, successes: number) => {
    const flags = returns.map((_, i) => i < successes ? 1 : 0);
    const slack = FEW / episodes;
    expect(name, value, likelyMean(flags, { episodes, slack }));
  };
  expect("mean return", claimed.mean, likelyMean(returns, { episodes }));
  const squares = returns.map((it) => (it - mean) ** 2);
  const [low, high] = likelyMean(squares, { episodes })
    .map((it) => Math.sqrt(Math.max(0, it)));
  if (episodes > 1) expect("deviation", deviation, [low, high]);
  const lengths = played.flatMap((it) => it.lengths);
  expect("mean length", claimed.length, likelyMean(lengths, { episodes }));
  share(
    "share of cut episodes",
    claimed.cut / episodes,
    played.reduce((sum, { cut }) => sum + cut, 0),
  );
  const rates = played.map(({ successRate, returns }) =>
    successRate === undefined ? undefined : successRate * returns.length
  );
  if ((rates[0] === undefined) !== (claimed.success === null)) {
    problems.push(
      `${CARD_FILE}: the success rate is ${claimed.success}, here ${
        played[0].successRate ?? null
      }`,
    );
  } else if (claimed.success !== null) {
    const reached = Math.round(rates.reduce<number>((sum, it) => sum + it!, 0));
    share("success rate", claimed.success, reached);
  }
  // Probability of so many episodes without one of the worse ones.
  const worse = returns.filter((it) => it < claimed.least).length / count;
  if ((1 - worse) ** episodes < 1 - LEVEL) {
    problems.push(
      `${CARD_FILE}: the lowest return is ${claimed.least}, ${
        Math.round(worse * count)
      } of ${count} episodes here have a lower one`,
    );
  }
  return problems;
}

/** Lists claimed numbers that contradict each other. */
function contradictions(
  { mean, deviation, episodes, low, high, least }: CardEvaluation,
): string[] {
  const half = deviation * halfWidth(episodes), root = Math.sqrt(episodes - 1);
  const slack = 1e-6 * half + 1e-9 * Math.abs(mean);
  const [from, to] = [mean - half, mean + half];
  // Samuelson's inequality, and the effect of a single lower return on the standard
  // deviation.
  const [bottom, top] = [
    mean - deviation * root,
    mean - deviation / Math.max(1, root),
  ];
  return [
    ...Math.abs(low - from) <= slack && Math.abs(high - to) <= slack ? [] : [
      `${CARD_FILE}: the interval is [${low}, ${high}], from mean, deviation and episodes it is [${from}, ${to}]`,
    ],
    ...least >= bottom - slack && least <= top + slack ? [] : [
      `${CARD_FILE}: the lowest return is ${least}, from mean, deviation and episodes it is within [${bottom}, ${top}]`,
    ],
  ];
}

/**
 * Plays the card's episodes again, and others.
 *
 * @returns The expected card, and lines about the other episodes.
 */
async function playAgain(
  setup: RunSetup,
  claims: CardClaims,
  deterministic: boolean,
  onNotice: (line: string) => void,
): Promise<{ played: CardClaims; problems: string[] }> {
  const { evaluation: claimed, seeds } = claims;
  const { seed, episodes, engine } = claimed;
  const again = await playCard(setup, { deterministic, episodes, seed });
  const others = await playCard(setup, {
    deterministic,
    episodes: Math.max(episodes, EPISODES),
    seed: seed + 1,
  });
  const problems: string[] = [], { mean } = again.evaluation;
  const [low, high] = likelyMean(others.returns, { episodes });
  if (seeds?.isBest && Math.max(mean, high) < seeds.iqm) {
    problems.push(
      `${CARD_FILE}: the best of ${seeds.count} seeds has a mean return of ${mean}, though their IQM is ${seeds.iqm}`,
    );
  }
  if (again.evaluation.engine === engine) {
    if (mean < low || mean > high) {
      problems.push(
        `${CARD_FILE}: the mean return is ${mean} from seed ${seed} on, from seed ${
          seed + 1
        } on it is likely within [${low}, ${high}]`,
      );
    }
    return { played: { ...claims, evaluation: again.evaluation }, problems };
  }
  // Other machines may compute other last bits.
  onNotice(
    `Compared by intervals: the card is of ${engine}, this is ${again.evaluation.engine}`,
  );
  problems.push(
    ...contradictions(claimed),
    ...unlikely(claimed, [again, others]),
  );
  return { played: claims, problems };
}

/** Largest number of a card's lines to report. */
const MOST_LINES = 10;

/** Lists the lines of a card that differ from the expected ones. */
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
  onNotice: (line: string) => void,
): Promise<CheckResult> {
  const { dir, folder, config, checkpoint: { step, notes } } = agent;
  const textOf = (name: string) =>
    new TextDecoder().decode(readShared(dir, name));
  const card = textOf(CARD_FILE), claims = readClaims(card);
  readProgress(logOf(folder));
  const problems = textOf("config.yaml") === notes.config
    ? []
    : ["config.yaml is not the configuration of agent.safetensors"];
  const deterministic = config.evaluationDeterministic;
  const { episodes } = claims.evaluation;
  await withAgent(agent, async (setup) => {
    const policy = policyFile(setup, { deterministic });
    const sharedGraph = graphOf(readShared(dir, "policy.onnx"));
    if (policy === undefined || graphOf(policy) !== sharedGraph) {
      problems.push("policy.onnx is another policy than agent.safetensors");
    }
    const replay = await playAgain(setup, claims, deterministic, onNotice);
    const hasPicture = existsSync(join(dir, PICTURE_FILE));
    const { spaces } = setup.environments;
    if (writeYaml(spaces) !== notes.spaces) {
      problems.push("agent.safetensors has other spaces than the environment");
    }
    const source = { step, notes, spaces, hasPicture };
    const wanted = cardText(replay.played, source);
    problems.push(...differences(card, wanted), ...replay.problems);
  }, { episodes, onNotice });
  return { problems, unchecked: uncheckedOf(claims) };
}

/** Result of a check. */
export interface CheckResult {
  /** A line for each claim that does not hold. */
  problems: string[];
  /** Claims that cannot be verified. */
  unchecked: string[];
}

/** Options of {@linkcode checkShared}. */
export type CheckOptions = Pick<ShareOptions, "isTrusted" | "onNotice">;

/**
 * Checks that a shared folder contains what its card claims.
 *
 * @param dir Folder of the agent.
 * @param options Trust in its modules, and receiver of lines for the user.
 * @returns Claims that do not hold, and claims that were not checked.
 * @throws {UsageError} If there is no such folder.
 *
 * @example
 * ```ts
 * import { runDirOf } from "@bellman/runs/settings";
 * import { checkShared } from "@bellman/share";
 * import { assertEquals } from "@std/assert";
 *
 * const { problems } = await checkShared(runDirOf("zoo:a2c/CartPole-v1"));
 * assertEquals(problems, []);
 * ```
 */
export async function checkShared(
  dir: string,
  { isTrusted = false, onNotice = () => {} }: CheckOptions = {},
): Promise<CheckResult> {
  const damage = checkFilesOf(dir);
  // A file with other bytes is not opened.
  if (damage.length > 0) return { problems: damage, unchecked: [] };
  try {
    const agent = findAgent(dir, { command: "check", isTrusted });
    return await checkAgent(agent, onNotice);
  } catch (error) {
    return { problems: [messageOf(error)], unchecked: [] };
  }
}
