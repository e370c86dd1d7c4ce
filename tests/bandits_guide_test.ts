/** The guide's server learns from requests, and its log is evaluated. */
import { Bandit, linear, parseJsonl, thompson } from "@bellman/bandits";
import { saveStateSync, writeState } from "@bellman/files";
import { RandomStream, seedWords } from "@bellman/random";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { guideCode } from "./testdata/guide_code.ts";
import { runDeno } from "./testdata/run_deno.ts";

const ROOT = new URL("../", import.meta.url).pathname;
// Inside of the workspace, where its packages have their names.
const dir = await Deno.makeTempDir({ dir: ROOT, prefix: ".examples-bandits-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
const server = `${dir}/server.ts`;
Deno.writeTextFileSync(server, guideCode("bandits", "## A server"));

type Visit = { visits: number; phone: boolean };
const ACTIONS = ["free", "pro", "team"];

/** Mean of what a visitor pays for an action. */
function meanOf({ visits, phone }: Visit, action: string): number {
  if (phone) return action === "free" ? 1 : 0;
  return action === "team" ? 0.2 + 0.2 * Math.log1p(visits) : 0.5;
}

/** A port that was free a moment ago. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

/** Posts a body, and returns the answer. */
async function post(url: string, body: unknown) {
  const options = { method: "POST", body: JSON.stringify(body) };
  return await (await fetch(url, options)).json();
}

/** Runs the server for a while. */
async function withServer(
  use: (url: string) => Promise<void>,
  folder = dir,
): Promise<void> {
  const permissions = ["--allow-net", "--allow-read", "--allow-write"];
  const port = freePort(), url = `http://127.0.0.1:${port}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-q",
      "--no-check",
      ...permissions,
      server,
      folder,
      `${port}`,
    ],
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    for (let i = 0; i < 100; i++) {
      try {
        await post(url, {});
        break;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    await use(url);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
}

Deno.test("the guide's server learns from 10,000 requests, and its log is evaluated", async () => {
  const random = new RandomStream(seedWords(1));
  const lines = guideCode("bandits", "## A server").trim().split("\n");
  assert(lines.length <= 50, `${lines.length} lines`);
  let late = 0;
  await withServer(async (url) => {
    const visit = async () => {
      const phone = random.uniform() < 0.5;
      const context = { visits: Math.floor(20 * random.uniform()), phone };
      const reward = random.normal() * 0.3;
      const { id, action, propensity } = await post(url, context);
      assert(propensity > 0 && propensity <= 1 + 1e-9);
      const mean = meanOf(context, action);
      const { known } = await post(`${url}/reward`, {
        id,
        reward: mean + reward,
      });
      assert(known);
      return mean / Math.max(...ACTIONS.map((it) => meanOf(context, it)));
    };
    const shares: number[] = [];
    for (let i = 0; i < 5000 / 20; i++) {
      const found = await Promise.all(Array.from({ length: 20 }, visit));
      shares.push(...found);
    }
    const mean = (of: number[]) => of.reduce((a, b) => a + b) / of.length;
    late = mean(shares.slice(-1000));
    assert(late > 0.97, `${late}`);
    const bad = await post(url, { visits: -5, phone: true });
    assertEquals(
      bad.error,
      "Cannot take NaN as feature 1: expected a finite number, up to 1e+30",
    );
    assertEquals(await post(`${url}/reward`, { id: "x", reward: 1 }), {
      known: false,
    });
  });
  const text = Deno.readTextFileSync(`${dir}/log.jsonl`);
  const log = parseJsonl<string, Visit>(text);
  assertEquals(log.length, 5000);
  assert(log.every(({ reward }) => reward !== undefined));

  const program = `${ROOT}docs/examples/bandits/evaluate.ts`;
  const { code, out, err } = await runDeno(["-R", program, `${dir}/log.jsonl`]);
  assertEquals([code, err], [0, ""]);
  const dr = /^dr +(.+)$/m.exec(out)![1].split(" ").map(Number);
  const truth = log.reduce(
    (sum, { context }) =>
      sum +
      (context.phone
        ? 1
        : 0.1 * meanOf(context, "free") + 0.9 * meanOf(context, "team")),
    0,
  );
  assertAlmostEquals(dr[0], truth / log.length, 0.05);
  assert(dr[1] < dr[0] && dr[0] < dr[2]);

  // Lines that are damaged are named by their number.
  Deno.writeTextFileSync(`${dir}/bad.jsonl`, text.slice(0, -5));
  const bad = await runDeno(["-R", program, `${dir}/bad.jsonl`]);
  assertEquals(bad.code, 2);
  assertEquals(bad.err, "Cannot read line 10000 of the log: it is not JSON\n");
  const context = { visits: 1, phone: true };
  const cases: [decision: object, message: string][] = [
    [{ context, action: "fre" }, "unknown action 'fre'"],
    [{ action: "free" }, "no visit"],
  ];
  for (const [decision, message] of cases) {
    const line = JSON.stringify({ id: "x1", propensity: 0.5, ...decision });
    Deno.writeTextFileSync(`${dir}/bad.jsonl`, `${line}\n`);
    const { code, err } = await runDeno(["-R", program, `${dir}/bad.jsonl`]);
    assertEquals([code, err], [2, `Decision x1 has ${message}\n`]);
  }
});

Deno.test("the guide's server goes on from its last state", async () => {
  const bandit = new Bandit({
    actions: ACTIONS,
    features: (it: Visit) => [1, Math.log1p(it.visits), Number(it.phone)],
    model: linear(),
    explore: thompson(),
  });
  const { id } = bandit.decide({ visits: 1, phone: true });
  const folder = Deno.makeTempDirSync({ dir });
  saveStateSync(bandit.save(), `${folder}/bandit.state`);
  await withServer(async (url) => {
    const answer = await post(`${url}/reward`, { id, reward: 1 });
    assertEquals(answer, { known: true });
  }, folder);
});

Deno.test("a bandit of 10 actions and 64 features is saved in 200 kB", async () => {
  const bandit = new Bandit<number, number[]>({
    actions: Array.from({ length: 10 }, (_, i) => i),
    features: (it) => it,
    model: linear(),
    explore: thompson(),
  });
  const random = new RandomStream(seedWords(0));
  for (let i = 0; i < 100; i++) {
    const context = Array.from({ length: 64 }, () => random.normal());
    bandit.learn({ context, action: i % 10, reward: random.normal() });
  }
  const { length } = await new Response(writeState(bandit.save())).bytes();
  assert(length < 200_000, `${length} bytes`);
});
