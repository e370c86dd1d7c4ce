import { SeededRandom } from "@bellman/envs";
import {
  eloChange,
  expectedScore,
  fitRatings,
  type Games,
} from "@bellman/statistics";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";

const rating = fc.double({ min: 0, max: 3000, noNaN: true });

Deno.test("expected scores of two players add up to 1", () => {
  fc.assert(fc.property(rating, rating, (a, b) => {
    assertAlmostEquals(expectedScore(a, b) + expectedScore(b, a), 1, 1e-12);
  }));
});

Deno.test("what one player gains the other loses", () => {
  const result = fc.constantFrom(0, 0.5, 1);
  fc.assert(fc.property(rating, rating, result, (a, b, result) => {
    const gained = eloChange([a, b], result);
    assertAlmostEquals(gained, -eloChange([b, a], 1 - result), 1e-9);
  }));
});

/** Plays games of players of known ratings, `[players][players]` of wins. */
function simulate(
  truth: readonly number[],
  games: number,
  random: SeededRandom,
): Games {
  const wins = truth.map(() => truth.map(() => 0));
  for (let i = 0; i < truth.length; i++) {
    for (let j = 0; j < i; j++) {
      for (let game = 0; game < games; game++) {
        const isWon = random.uniform() < expectedScore(truth[i], truth[j]);
        if (isWon) wins[i][j]++;
        else wins[j][i]++;
      }
    }
  }
  return { wins };
}

Deno.test("95 % intervals contain the true rating 93 to 97 times of 100", () => {
  const random = new SeededRandom(1);
  const truth = [-150, -50, 0, 40, 160];
  let inside = 0, total = 0;
  for (let trial = 0; trial < 600; trial++) {
    const { intervals } = fitRatings(simulate(truth, 60, random), { prior: 0 });
    for (const [i, [low, high]] of intervals.entries()) {
      inside += Number(low <= truth[i] && truth[i] <= high);
      total++;
    }
  }
  const share = inside / total;
  assert(share >= 0.93 && share <= 0.97, `${share}`);
});

Deno.test("the anchor is at 1200 and differences stay", () => {
  const games = simulate([0, 100, 300], 50, new SeededRandom(2));
  const free = fitRatings(games), anchored = fitRatings(games, { anchor: 1 });
  assertEquals(anchored.ratings[1], 1200);
  assertEquals(anchored.standardErrors[1], 0);
  for (const i of [0, 2]) {
    const difference = free.ratings[i] - free.ratings[1];
    assertAlmostEquals(anchored.ratings[i] - 1200, difference, 1e-9);
  }
  const sum = free.ratings.reduce((sum, it) => sum + it, 0);
  assertAlmostEquals(sum, 0, 1e-9);
});

Deno.test("a draw counts as half a win for each", () => {
  const drawn = fitRatings({
    wins: [[0, 4], [2, 0]],
    draws: [[0, 6], [6, 0]],
  }, { prior: 0 });
  const won = fitRatings({ wins: [[0, 7], [5, 0]] }, { prior: 0 });
  assertAlmostEquals(drawn.ratings[0], won.ratings[0], 1e-9);
});

Deno.test("who won every game has a finite rating with a prior", () => {
  const wins = [[0, 1000, 1000], [0, 0, 1000], [0, 0, 0]];
  const { ratings, standardErrors } = fitRatings({ wins });
  assert(ratings[0] > ratings[1] && ratings[1] > ratings[2]);
  assert([...ratings, ...standardErrors].every(Number.isFinite));
});

const MISTAKES: [string, () => unknown, string][] = [
  [
    "without a prior",
    () => fitRatings({ wins: [[0, 3], [0, 0]] }, { prior: 0 }),
    "some won all their games",
  ],
  [
    "apart",
    () =>
      fitRatings({
        wins: [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]],
      }),
    "Cannot compare players 0 and 2",
  ],
  ["alone", () => fitRatings({ wins: [[0]] }), "Cannot rate 1 players"],
  [
    "of negative counts",
    () => fitRatings({ wins: [[0, -1], [1, 0]] }),
    "by -1 games of 0 and 1",
  ],
  [
    "of a ragged table",
    () => fitRatings({ wins: [[0, 1], []] }),
    "by undefined games of 1 and 0",
  ],
  [
    "of draws that differ",
    () => fitRatings({ wins: [[0, 1], [1, 0]], draws: [[0, 1], [2, 0]] }),
    "expected a symmetric table",
  ],
  [
    "with another prior",
    () => fitRatings({ wins: [[0, 1], [1, 0]] }, { prior: -1 }),
    "a prior of -1 games",
  ],
  [
    "with an anchor that is none",
    () => fitRatings({ wins: [[0, 1], [1, 0]] }, { anchor: 2 }),
    "an index from 0 to 1",
  ],
  [
    "with a level that is none",
    () => fitRatings({ wins: [[0, 1], [1, 0]] }, { level: 95 }),
    "intervals of level 95",
  ],
  ["with another result", () => eloChange([0, 0], 2), "with the result 2"],
];

for (const [name, run, message] of MISTAKES) {
  Deno.test(`ratings ${name} are refused in one line`, () => {
    assertThrows(run, RangeError, message);
  });
}
