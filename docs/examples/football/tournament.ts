// deno-lint-ignore-file no-console -- a program that prints
/**
 * Everybody against everybody, without a browser: the rule, one who runs anywhere, and
 * agents by name, as in `clone=runs/clone/policy.onnx`.
 *
 *     deno run -A --no-lock docs/examples/football/tournament.ts NAME=FILE...
 */
import { Player } from "@bellman/client/play";
import { SeededRandom } from "@bellman/envs";
import { fitRatings } from "@bellman/statistics";
import { Match, scripted, seenBy } from "./world.ts";

const MATCHES = 200;
const random = new SeededRandom(1);
const players: Record<string, typeof scripted> = {
  random: () => random.integer(9),
  scripted,
};
for (const argument of Deno.args) {
  const [name, file] = argument.split("=");
  const player = new Player<number>(await Deno.readFile(file), {
    random: () => random.uniform(),
  });
  players[name] = (game, side) => player.act(seenBy(game, side));
}

const names = Object.keys(players), match = new Match();

/** Plays a match; returns 1 if the left one scores, -1 if the other does, else 0. */
function play(sides: readonly number[]): number {
  match.reset({ random, parameters: { guidance: 0 } });
  for (;;) {
    const step = match.step(
      sides.map((it, side) => players[names[it]](match.game, side)),
    );
    if (step.terminated[0] || step.truncated[0]) return step.reward[0];
  }
}

const wins = names.map(() => names.map(() => 0));
const draws = names.map(() => names.map(() => 0));
for (let a = 0; a < names.length; a++) {
  for (let b = 0; b < a; b++) {
    for (let i = 0; i < MATCHES; i++) {
      const pair = i % 2 === 0 ? [a, b] : [b, a];
      const goals = play(pair);
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
