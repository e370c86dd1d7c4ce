// deno-lint-ignore-file no-console -- a program that prints
/**
 * Everybody against everybody, without a browser: the rule, one who runs anywhere, and
 * agents by name, as in `clone=runs/clone/policy.onnx`.
 *
 *     deno run -A --no-lock examples/football/tournament.ts NAME=FILE...
 */
import { Player } from "@bellman/client/play";
import { SeededRandom } from "@bellman/envs";
import { fitRatings } from "@bellman/statistics";
import { Football, scripted } from "./game.ts";

const MATCHES = 200;
const random = new SeededRandom(1);
const players: Record<string, (seen: number[]) => number> = {
  random: () => random.integer(9),
  scripted,
};
for (const argument of Deno.args) {
  const [name, file] = argument.split("=");
  const player = new Player<number>(await Deno.readFile(file), {
    random: () => random.uniform(),
  });
  players[name] = (seen) => player.act(seen);
}

const game = new Football(), names = Object.keys(players);

/** Plays a match; returns the goals of the first player: 1, 0 or -1. */
function match(minds: ((seen: number[]) => number)[]): number {
  for (let seen = game.reset({ random });;) {
    const step = game.step(minds.map((it, seat) => it(seen[seat])));
    if (step.terminated[0] || step.truncated[0]) return step.reward[0];
    seen = step.observation;
  }
}

const wins = names.map(() => names.map(() => 0));
const draws = names.map(() => names.map(() => 0));
for (let a = 0; a < names.length; a++) {
  for (let b = 0; b < a; b++) {
    for (let i = 0; i < MATCHES; i++) {
      const pair = i % 2 === 0 ? [a, b] : [b, a];
      const goals = match(pair.map((it) => players[names[it]]));
      if (goals === 0) draws[a][b]++, draws[b][a]++;
      else if (goals > 0) wins[pair[0]][pair[1]]++;
      else wins[pair[1]][pair[0]]++;
    }
    console.log(
      `${names[a]} - ${names[b]}: ${wins[a][b]} won, ${draws[a][b]} drawn, ${
        wins[b][a]
      } lost`,
    );
  }
}
const { ratings, intervals } = fitRatings({ wins, draws }, { anchor: 0 });
names.forEach((name, i) => {
  const [low, high] = intervals[i].map(Math.round);
  console.log(`${name}: Elo ${Math.round(ratings[i])} [${low}, ${high}]`);
});
