import { hasGymnasium } from "@bellman/envs/gymnasium";
import { readEpisodes, readProgress } from "@bellman/training";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runCommand, trainWell } from "./runs.ts";

const dir = await Deno.makeTempDir();
const SHOP = new URL("./testdata/shop.ts", import.meta.url).pathname;
const SMALL = [
  ...["--preset=none", "--steps=840", "--backend=cpu", "--quiet"],
  ...["--set=evaluationInterval=0", "--set=hiddenSizes=[8]"],
  "--set=evaluationEpisodes=1",
  // So that a shorter run can be prolonged.
  ...["--set=learningRateSchedule=constant", "--set=logInterval=9"],
];
const OF_SHOP = [
  ...["--env=Shop-v0", `--set=envModules=[${SHOP}]`, ...SMALL],
  ...["--set=numEnvs=4", "--set=infoStatistics=[lost_sales, soldOut]"],
];

/** The logs of a run, but for their clock. */
function logsOf(run: string) {
  const rows = readProgress(`${run}/progress.csv`).map(({ statistics }) =>
    Object.entries(statistics)
      .filter(([name]) => !/seconds|per_second/.test(name))
  );
  return { episodes: readEpisodes(`${run}/episodes.csv`), rows };
}

Deno.test("numbers of an environment's info are in episodes, rows, events and report", async () => {
  const run = `${dir}/run`;
  await trainWell([...OF_SHOP, `--out=${run}`]);
  const [header] = Deno.readTextFileSync(`${run}/episodes.csv`).split("\n");
  assertEquals(
    header,
    "step,env,return,length,terminated,life_returns," +
      "lost_sales_sum,lost_sales_mean,lost_sales_last," +
      "soldOut_sum,soldOut_mean,soldOut_last",
  );
  const episodes = readEpisodes(`${run}/episodes.csv`);
  assertEquals(episodes.length, 120);
  for (const { length, infoStatistics } of episodes) {
    const { lost_sales: lost, soldOut } = infoStatistics!;
    assertEquals(lost.mean, lost.sum / length);
    assert(Number.isInteger(lost.sum) && lost.last <= lost.sum);
    assert(soldOut.sum <= 7 && [0, 1].includes(soldOut.last));
  }
  assert(
    new Set(episodes.map((it) => it.infoStatistics!.lost_sales.sum)).size > 2,
  );
  const { statistics } = readProgress(`${run}/progress.csv`)
    .findLast((it) => "train/loss" in it.statistics)!;
  const sums = episodes.slice(-100).map((it) =>
    it.infoStatistics!.lost_sales.sum
  );
  assertEquals(
    statistics["rollout/lost_sales_sum"],
    sums.reduce((sum, it) => sum + it, 0) / 100,
  );
  assert(statistics["rollout/soldOut_mean"] <= 1);
  assertStringIncludes(
    Deno.readTextFileSync(`${run}/report.html`),
    "Lost sales sum",
  );
  const events = [...Deno.readDirSync(run)]
    .find(({ name }) => name.startsWith("events.out"))!;
  const bytes = Deno.readFileSync(`${run}/${events.name}`);
  const text = new TextDecoder("latin1").decode(bytes);
  assertStringIncludes(text, "rollout/lost_sales_last");
  const { code: plotted, err } = await runCommand([
    ...["plot", run, "--key", "rollout/lost_sales_sum"],
  ]);
  assertEquals([plotted, err], [0, ""]);
});

Deno.test("they are the same wherever environments are, and after a resume", async () => {
  await trainWell([...OF_SHOP, `--out=${dir}/here`]);
  const wanted = logsOf(`${dir}/here`);
  for (const place of ["workers", "subprocesses"]) {
    const run = `${dir}/${place}`;
    const hosted = [`--set=vectorization=${place}`, "--set=workers=2"];
    await trainWell([...OF_SHOP, ...hosted, `--out=${run}`]);
    assertEquals(logsOf(run), wanted, place);
  }
  // Within the episodes of a half, and prolonged: intervals are those of 840 steps.
  const half = `${dir}/half`;
  await trainWell(
    [...OF_SHOP, "--steps=400", `--out=${half}`]
      .filter((it) => it !== "--steps=840"),
  );
  await trainWell(["--resume", half, "--steps=840", "--quiet"]);
  assertEquals(logsOf(half).episodes, wanted.episodes);
});

Deno.test("what an environment is registered with is recorded, by workers that learn as well", async () => {
  const run = `${dir}/a3c`;
  const counting = OF_SHOP.map((it) => it.replace("Shop-v0", "CountingShop-v0"))
    .filter((it) => !/numEnvs|infoStatistics/.test(it));
  await trainWell(["a3c", ...counting, "--workers=2", `--out=${run}`]);
  const names = readEpisodes(`${run}/episodes.csv`)
    .map(({ infoStatistics }) => Object.keys(infoStatistics!).join());
  assert(names.length > 50);
  assertEquals([...new Set(names)], ["lost_sales"]);
  const rows = readProgress(`${run}/progress.csv`);
  assert("rollout/lost_sales_mean" in rows.at(-1)!.statistics);
});

Deno.test("where an environment tells is_success, its rate is in rows, events, report and evaluations", async () => {
  const run = `${dir}/goals`;
  await trainWell([
    ...["dqn", "--env=BitFlip-v0", "--preset=none", "--steps=600"],
    ...["--set=envKwargs={bits: 2}", "--set=hindsight={k: 4}"],
    ...["--set=learningStarts=50", "--set=evaluationInterval=300"],
    ...["--set=logInterval=100", "--quiet", `--out=${run}`],
  ]);
  const rows = readProgress(`${run}/progress.csv`)
    .map(({ statistics }) => statistics);
  const last = readEpisodes(`${run}/episodes.csv`).slice(-100)
    .map((it) => it.infoStatistics!.is_success.last);
  const rate = last.reduce((sum, it) => sum + it, 0) / last.length;
  const trained = rows.findLast((it) => "rollout/success_rate" in it)!;
  assertEquals(trained["rollout/success_rate"], rate);
  assertEquals(rows.filter((it) => "eval/success_rate" in it).length, 2);
  const { out } = await runCommand(["eval", run, "--episodes=7", "--json"]);
  const { successRate, lengths } = JSON.parse(out);
  assertEquals(successRate, lengths.filter((it: number) => it < 15).length / 7);
  const { out: line } = await runCommand(["eval", run, "--episodes=7"]);
  assertStringIncludes(
    line,
    `success rate ${Math.round(100 * successRate) / 100}`,
  );
  const report = Deno.readTextFileSync(`${run}/report.html`);
  assertStringIncludes(report, "Success rate");
  assertStringIncludes(report, "Evaluation: success rate");
  const events = [...Deno.readDirSync(run)]
    .find(({ name }) => name.startsWith("events.out"))!;
  const text = new TextDecoder("latin1")
    .decode(Deno.readFileSync(`${run}/${events.name}`));
  assertStringIncludes(text, "eval/success_rate");
  // Evaluations are kept in checkpoints.
  await trainWell(["--resume", run, "--steps=900", "--quiet"]);
});

Deno.test("an entry that is missing is told, and fails no run", async () => {
  for (const place of ["sync", "subprocesses"]) {
    const run = `${dir}/untold-${place}`;
    const { code, err } = await runCommand([
      ...["train", ...OF_SHOP.slice(0, -1), `--set=vectorization=${place}`],
      ...["--set=infoStatistics=[lost_sale, soldOut]", `--out=${run}`],
    ]);
    assertEquals(code, 0, err);
    const notice =
      "No step of an episode had info.lost_sale, which is left out of its record: the info had lost_sales, soldOut, day";
    assertEquals(err.split(notice).length, 2, err);
    const { episodes, rows } = logsOf(run);
    const names = episodes.map((it) => Object.keys(it.infoStatistics!).join());
    assertEquals([...new Set(names)], ["soldOut"]);
    const columns = rows.flatMap((row) => row.map(([name]) => name));
    assert(columns.includes("rollout/soldOut_mean"));
    assert(!columns.some((name) => name.includes("lost_sale_")));
  }
});

for (
  const [name, args, wanted] of [
    [
      "an entry that is no number",
      [...OF_SHOP, "--set=infoStatistics=[day]"].filter((it) =>
        !it.includes("[lost_sales, ")
      ),
      'Cannot use info.day of Shop-v0, copy 0, at step 1 of its episode: it is "Monday", expected a finite number',
    ],
    [
      "an entry with the name of an agent's number",
      [...OF_SHOP, "--set=infoStatistics=[return]"].filter((it) =>
        !it.includes("[lost_sales, ")
      ),
      "Cannot record info.return: rollout/return_mean is the agent's, expected an entry of another name",
    ],
    [
      "a loop on the device",
      ["--set=loop=device", "--set=infoStatistics=[x]", "--steps=800"],
      "Cannot train a2c with loop: device and infoStatistics: x: expected none, or loop: host",
    ],
  ] as [string, string[], string][]
) {
  Deno.test(`${name} is one clear line`, async () => {
    const { code, err } = await runCommand([
      ...["train", ...args, `--out=${dir}/${name.replaceAll(" ", "_")}`],
    ]);
    assertEquals(code === 0, false);
    const lines = err.trim().split("\n").filter((it) => it.includes("Cannot"));
    assertEquals(lines.length, 1, err);
    assertStringIncludes(lines[0], wanted);
  });
}

const PYTHON_SHOP = `
import gymnasium as gym
import numpy as np


class Shop(gym.Env):
    observation_space = gym.spaces.Discrete(6)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.stock, self.lost, self.days = 2, 0, 0
        return self.stock, {}

    def step(self, order):
        goods = min(5, self.stock + int(order))
        demand = int(self.np_random.integers(4))
        sold = min(goods, demand)
        self.stock = goods - sold
        info = {"lost_sales": np.float32(demand - sold), "soldOut": self.stock == 0, "day": "Monday"}
        self.lost += demand - sold
        self.days += 1
        if self.days == 7:
            info["lost_in_all"] = self.lost
        return self.stock, sold - 0.5 * float(order), False, False, info


gym.register("PyShop-v0", entry_point=Shop, max_episode_steps=7)
`;

Deno.test({
  name:
    "infos of Python's environments are recorded, in each step and after a resume [Gymnasium]",
  ignore: !hasGymnasium(),
  async fn() {
    const module = `${dir}/py_shop.py`;
    await Deno.writeTextFile(module, PYTHON_SHOP);
    const args = [
      ...["--env=gym:PyShop-v0", `--set=envModules=[${module}]`, ...SMALL],
      "--set=numEnvs=3",
      "--set=infoStatistics=[lost_sales, soldOut, lost_in_all]",
    ];
    const [whole, half] = [`${dir}/py`, `${dir}/py-half`];
    await trainWell([...args, `--out=${whole}`]);
    const { episodes, rows } = logsOf(whole);
    assertEquals(episodes.length, 120);
    for (const { length, infoStatistics } of episodes) {
      const { lost_sales: lost, soldOut, lost_in_all: all } = infoStatistics!;
      assertEquals([length, lost.mean], [7, lost.sum / 7]);
      // The last step alone tells it.
      const { sum } = lost;
      assertEquals(all, { sum, mean: sum, last: sum });
      assert(Number.isInteger(lost.sum) && [0, 1].includes(soldOut.last));
    }
    assert(rows.at(-1)!.some(([name]) => name === "rollout/soldOut_last"));
    // Without them returns and lengths are the same.
    await trainWell([
      ...args.filter((it) => !it.includes("infoStatistics")),
      `--out=${dir}/py-plain`,
    ]);
    assertEquals(
      logsOf(`${dir}/py-plain`).episodes,
      episodes.map(({ infoStatistics: _, ...others }) => others),
    );
    const shorter = args.map((it) => it === "--steps=840" ? "--steps=400" : it);
    await trainWell([...shorter, `--out=${half}`]);
    await trainWell(["--resume", half, "--steps=840", "--quiet", "--trust"]);
    assertEquals(logsOf(half).episodes, episodes);
    const { code, err } = await runCommand([
      "train",
      ...args.filter((it) => !it.includes("infoStatistics")),
      ...["--set=infoStatistics=[day]", `--out=${dir}/py-day`],
    ]);
    assertEquals(code === 0, false);
    assertStringIncludes(
      err,
      "Cannot use the data of gym:PyShop-v0, copy 0: info.day is 'Monday': expected a finite number",
    );
  },
});
