/** The same five seeds have the same band in plots, the board, reports and experiments. */
import { interquartileMean, seedInterval } from "@bellman/statistics";
import { assertAlmostEquals, assertEquals } from "@std/assert";
import { averageRuns } from "../algorithms/training/plots/lines.ts";
import type { ShownFolder } from "../lab/board/answers.ts";
import { HOME, type View } from "../lab/board/page/address.ts";
import { CurveMaker } from "../lab/board/page/groups.ts";

const FIVE = [493, 500, 180, 228, 480];
const x = [0, 500, 1000];
const runs = FIVE.map((it) => ({ x, y: [0, it / 2, it] }));

/** The board's curve of the seeds. */
function onBoard(curves: View["curves"]) {
  const name = "a2c", environment = "CartPole-v1";
  const group = { name, environment, color: 0, runs: [] as ShownFolder[] };
  const view = { ...HOME, curves };
  return new CurveMaker().of("", runs, { group, view, groups: 1 });
}

Deno.test("five seeds have one band, within what they returned", () => {
  const { value, interval } = seedInterval(FIVE);
  for (const line of [averageRuns(runs, "ci", 300), onBoard("mean")]) {
    assertEquals([line.x, line.y[2]], [x, value]);
    assertEquals([line.low![2], line.high![2]], interval);
  }
  const iqm = seedInterval(FIVE, { center: "iqm" }), line = onBoard("iqm");
  assertEquals([line.low![2], line.high![2]], iqm.interval);
  assertAlmostEquals(iqm.value, interquartileMean(FIVE.map((it) => [it])));
});
