import { checkWritable, UsageError, writeWhole } from "@bellman/runs/program";
import { type League, type LeagueRow, playLeague } from "@bellman/runs/league";
import {
  type Command,
  integerOf,
  option,
  valueOf,
} from "../terminal/command.ts";
import { TRUST_OPTION } from "../options/options.ts";
import { resolve } from "node:path";

/** `league`: lets agents of games play each other, and rates them. */
export const leagueCommand: Command = {
  name: "league",
  usage: "RUN... [OPTIONS]",
  summary:
    "Rate the agents of runs of a game, and minimax:N, by playing each other.",
  options: [
    option("games N", "Games of each two players; 200 by default."),
    option(
      "openings N",
      "Most random moves at the start of a game; 4 by default.",
    ),
    option("seed N", "Seed of all games; 0 by default."),
    option(
      "out FILE",
      "File of JSON that is written after each match; one that is there goes on. league.json by default.",
    ),
    option("picture FILE", "Draw the ratings with their intervals as SVG."),
    option("json", "Print the file's content instead of tables."),
    TRUST_OPTION,
  ],
  async run(options, io) {
    const runs = options.positionals;
    if (runs.length === 0) {
      throw new UsageError(
        "Cannot play a league of no runs: expected run folders, as in 'league runs/a runs/b'",
      );
    }
    const path = valueOf(options, "out") ?? "league.json";
    const picture = valueOf(options, "picture");
    if (picture !== undefined && resolve(picture) === resolve(path)) {
      throw new UsageError(
        `Cannot write the picture to ${picture}, as the league is: expected another file`,
      );
    }
    await checkWritable(path, "the league");
    if (picture !== undefined) {
      if (!picture.endsWith(".svg")) {
        throw new UsageError(
          `Cannot draw the ratings to ${picture}: expected a file that ends in .svg`,
        );
      }
      await checkWritable(picture, "the picture");
    }
    const started = performance.now();
    let before = 0;
    const league = await playLeague(runs, {
      games: integerOf(options, "games", { fallback: 200 }),
      openings: integerOf(options, "openings", { minimum: 0, fallback: 4 }),
      seed: integerOf(options, "seed", { minimum: 0, fallback: 0 }),
      isTrusted: options.switches.has("trust"),
      path,
      onMatch({ first, second, won, drawn, lost }, { over, of }) {
        before ||= over - 1;
        const seconds = (performance.now() - started) / 1000;
        const left = seconds / (over - before) * (of - over);
        io.err(
          `${over}/${of}, ${
            Math.ceil(left)
          } s left | ${first} ${won}-${drawn}-${lost} ${second}\n`,
        );
      },
    });
    if (picture !== undefined) writeWhole(picture, await drawn(league));
    io.out(
      options.switches.has("json")
        ? `${JSON.stringify(league)}\n`
        : textOf(league),
    );
    return 0;
  },
};

/** Draws the ratings. */
async function drawn({ game, games, table }: League): Promise<string> {
  const { renderIntervals } = await import("@bellman/training/plots");
  return renderIntervals([{
    title: "Elo rating",
    rows: table.map(({ name, rating, interval }) => ({
      ...{ name, value: rating, interval, color: 0 },
    })),
  }], {
    title: game,
    subtitle:
      `95 % intervals of the difference to random; ${games} games of each two`,
  });
}

/** Writes the ratings, and what each scored against each. */
function textOf({ table, matches }: League): string {
  const width = Math.max(...table.map(({ name }) => name.length));
  const short = table.map((_, i) => `${i + 1}`);
  const cells = table.map((row, i) => [
    `${i + 1}`,
    row.name.padEnd(width),
    ratingOf(row),
    percent(row.score),
    ...table.map((other) => scoreOf(matches, row.name, other.name)),
  ]);
  const head = ["", "player".padEnd(width), "Elo", "score", ...short];
  const widths = head.map((_, i) =>
    Math.max(...[head, ...cells].map((it) => it[i].length))
  );
  return [head, ...cells]
    .map((it) => it.map((text, i) => text.padStart(widths[i])).join("  "))
    .join("\n") + "\n";
}

function ratingOf({ rating, interval: [low, high] }: LeagueRow): string {
  const half = (high - low) / 2;
  return half === 0
    ? rating.toFixed(0)
    : `${rating.toFixed(0)} ± ${half.toFixed(0)}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

/** Returns the score of one player against another, in percent. */
function scoreOf(
  matches: League["matches"],
  own: string,
  other: string,
): string {
  for (const { first, second, won, drawn, lost } of matches) {
    const all = won + drawn + lost;
    if (first === own && second === other) {
      return percent((won + drawn / 2) / all);
    }
    if (first === other && second === own) {
      return percent((lost + drawn / 2) / all);
    }
  }
  return "-";
}
