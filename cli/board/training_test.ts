import { assert, assertEquals } from "@std/assert";
import { type CurveRequest, type RunState, streamPath } from "./messages.ts";
import { askedBoard, eventsOf } from "./testdata/requests.ts";

const root = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-board-training-" }),
);
globalThis.addEventListener("unload", () => {
  Deno.removeSync(root, { recursive: true });
});

/** Starts a process of the command line. */
function start(...args: string[]): Deno.ChildProcess {
  const main = new URL("../main.ts", import.meta.url).pathname;
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "-q", "--no-check", main, ...args],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

const STATISTIC = "train/value_loss";

Deno.test("a run is seen from its start over a kill and a resume to its end", async () => {
  const board = await askedBoard([root]);
  const dir = `${root}/run`;
  const settings = ["numEnvs=2", "checkpointInterval=400", "logInterval=40"];
  let child = start(
    ...["train", "a2c", "--steps=6000", "--backend=cpu", `--out=${dir}`],
    ...settings.map((it) => `--set=${it}`),
    "--set=evaluationEpisodes=2",
  );
  const points = new Map<number, number>();
  const states: RunState[] = [];
  let run = "", position = "", version = "";
  const request = (): CurveRequest => ({
    statistics: [STATISTIC],
    x: "steps",
    points: 10_000,
    thinning: "extremes",
    runs: new Map(run === "" ? [] : [[run, position]]),
  });
  const see = async (state: RunState, act?: () => void): Promise<void> => {
    const path = streamPath({ version, curves: [request()] });
    for await (const { event, data } of eventsOf(await board.get(path))) {
      if (event === "index") {
        version = data.version;
        const [summary] = data.runs;
        if (summary === undefined) continue;
        run = summary.id;
        if (states.at(-1) !== summary.state) states.push(summary.state);
      } else {
        position = data.position;
        if (data.isWhole) points.clear();
        const { x, y } = data.curves[STATISTIC] ?? { x: [], y: [] };
        x.forEach((step: number, i: number) => {
          assert(!points.has(step), `step ${step} comes twice`);
          points.set(step, y[i]);
        });
      }
      if (states.at(-1) === state) {
        if (act === undefined) return;
        // Only with its curve, and a checkpoint.
        if (request().runs.size > 0 && position === "") break;
        if (points.size > 20) return act();
      }
    }
    await see(state, act);
  };
  await see("running", () => child.kill("SIGKILL"));
  await child.status;
  await see("killed");
  child = start("train", "--resume", dir);
  await see("running");
  assertEquals((await child.status).code, 0);
  await see("ended");
  assertEquals(states, [
    "running",
    "killed",
    "running",
    "ended",
  ]);
  // What came last, once nothing is written any more.
  const path = streamPath({
    curves: [{ ...request(), runs: new Map([[run, ""]]) }],
  });
  const { value } = await eventsOf(await board.get(path)).next();
  const { x, y } = value!.data.curves[STATISTIC];
  const [header, ...rows] = Deno.readTextFileSync(`${dir}/progress.csv`)
    .trim().split("\n").map((line) => line.split(","));
  const at = header.indexOf(STATISTIC);
  const wanted = rows.filter((cells) => Number.isFinite(parseFloat(cells[at])))
    .map((cells) => [Number(cells[0]), Number(cells[at])]);
  assertEquals(x.map((step: number, i: number) => [step, y[i]]), wanted);
  for (const [step, value] of points) {
    assertEquals(wanted.find(([it]) => it === step)?.[1], value);
  }
  await board.close();
});
