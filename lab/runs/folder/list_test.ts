import { assert, assertEquals, assertMatch } from "@std/assert";
import { type ListedFolder, listRuns } from "./list.ts";
import { lockRun } from "./lock.ts";
import { HEADER, makePipe, makeRun, rowsOf } from "./testdata/folders.ts";

const top = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-list-" }),
);
globalThis.addEventListener("unload", () => {
  Deno.removeSync(top, { recursive: true });
});

async function only(name: string): Promise<ListedFolder> {
  const [found] = await listRuns(`${top}/${name}`);
  return found;
}

const log = `${HEADER}\n${rowsOf(0, 30)}`;
const elsewhere = '{"pid":1,"host":"elsewhere"}\n';

Deno.test("states are those of the record, the lock first", async () => {
  const evaluations = JSON.stringify({
    last: { step: 1, meanReturn: 2, stdReturn: 0 },
    best: { step: 1, meanReturn: 3, stdReturn: 0 },
  });
  const cases: [Parameters<typeof makeRun>[1], string, string?][] = [
    [{ log, stopped: "completed" }, "ended", "completed"],
    [{ log, stopped: "return &amp; more" }, "ended", "return & more"],
    [{ log, stopped: "interrupted" }, "stopped", "interrupted"],
    [{ log }, "killed"],
    [{ log, files: { "run.lock": "{}" } }, "killed"],
    [{ log, files: { "run.lock": elsewhere } }, "unknown"],
    [{ files: { "failure.txt": "No\x1b memory\n" } }, "failed", "No memory"],
    [{ log, files: { "evaluations.json": evaluations } }, "ended"],
    // Beside a record, nothing else counts.
    [{ record: { state: "ended", reason: "done" } }, "ended", "done"],
    [{ record: { state: "ended" }, stopped: "interrupted" }, "ended"],
    [{ log, record: { state: "failed", reason: "bad" } }, "failed", "bad"],
    [{ log, record: {}, stopped: "completed" }, "killed"],
    [{ record: {}, files: { "run.lock": elsewhere } }, "unknown"],
    [{ log, stopped: "a", files: { "run.json": "{}" } }, "unknown"],
  ];
  for (const [i, [parts, state, reason]] of cases.entries()) {
    const name = `state-${i}`;
    makeRun(`${top}/${name}`, parts);
    const found = await only(name);
    const shown = [found.kind, found.state, found.record?.reason];
    assertEquals(shown, ["run", state, reason], name);
    const lock = lockRun(`${top}/${name}`);
    assertEquals((await only(name)).state, "running");
    lock.release();
  }
});

Deno.test("runs, experiments, searches and shared agents are found, at their places", async () => {
  const root = `${top}/all`;
  assertEquals(await listRuns(root), []);
  makeRun(`${root}/plan/runs/a/seed-0`, { record: { state: "ended" } });
  Deno.writeTextFileSync(`${root}/plan/plan.yaml`, "");
  makeRun(`${root}/deep/search/trials/0`, { record: {} });
  Deno.writeTextFileSync(`${root}/deep/search/trials.jsonl`, "");
  makeRun(`${root}/shared`, {
    files: {
      "agent.safetensors": "",
      "evaluations.csv": "time/steps,eval/return_mean\n10,5\n",
    },
  });
  Deno.removeSync(`${root}/shared/checkpoints`);
  makeRun(`${top}/outside`, { log });
  Deno.symlinkSync(`${top}/outside`, `${root}/linked`);
  for (const it of ["node_modules/a", ".hidden/a"]) {
    makeRun(`${root}/${it}`, { log });
  }
  Deno.mkdirSync(`${root}/1/2/3/4/5/6/7/8/9`, { recursive: true });
  const notices: string[] = [];
  const lock = lockRun(`${root}/deep/search`);
  Deno.renameSync(
    `${root}/deep/search/run.lock`,
    `${root}/deep/search/search.lock`,
  );
  const found = await listRuns(root, { onNotice: (it) => notices.push(it) });
  lock.release();
  assertEquals(
    found.map(({ kind, name, parent, state }) => [
      ...[kind, name, parent?.slice(root.length + 1), state],
    ]),
    [
      ["search", "deep/search", undefined, "running"],
      ["run", "deep/search/trials/0", "deep/search", "killed"],
      ["experiment", "plan", undefined, "ended"],
      ["run", "plan/runs/a/seed-0", "plan", "ended"],
      ["shared", "shared", undefined, "ended"],
    ],
  );
  const { record } = found.at(-1)!;
  assertEquals(record?.evaluations.during.map((it) => it.meanReturn), [5]);
  assertEquals(notices, [
    `Folders more than 8 levels below ${root} are not shown`,
  ]);
});

Deno.test("what did not change is not read again", async () => {
  const root = `${top}/again`;
  makeRun(`${root}/a`, { log, record: { state: "ended" } });
  makeRun(`${root}/b`, { log, stopped: "completed" });
  const mapOf = (all: ListedFolder[]) => new Map(all.map((it) => [it.dir, it]));
  const first = await listRuns(root), known = mapOf(first);
  const second = await listRuns(root, { known });
  assert(second.every((it, i) => it === first[i]));
  Deno.writeTextFileSync(`${root}/a/progress.csv`, rowsOf(30, 31), {
    append: true,
  });
  const [a, b] = await listRuns(root, { known });
  assert(a.record === first[0].record && a.logStamp !== first[0].logStamp);
  assert(b === first[1]);
  makeRun(`${root}/a`, { record: { state: "failed" } });
  Deno.removeSync(`${root}/b`, { recursive: true });
  const left = await listRuns(root, { known });
  assertEquals(left.map(({ state }) => state), ["failed"]);
});

Deno.test("what is wrong with a configuration is said, and the rest goes on", async () => {
  const bomb = `a: &a [${"x,".repeat(90)}]\n` +
    ["b", "c", "d", "e", "f", "g"].map((it, i) =>
      `${it}: &${it} [${`*${"abcdef"[i]},`.repeat(90)}]\n`
    ).join("");
  const cases: [text: string | Uint8Array, why: RegExp][] = [
    [bomb, /too many/],
    [`a: &a ${"x".repeat(9000)}\nb: [${"*a,".repeat(99)}]`, /too long/],
    ["a: &a [*a]", /values|alias/],
    ["a: !!js/function 'function () {}'", /tag/],
    ["- a", /no mapping/],
    ["a: [", /YAML|flow/],
    [new Uint8Array([0, 255, 254, 0]), /YAML|mapping|printable/],
    ["x".repeat((1 << 20) + 1), /expected up to 1,048,576/],
  ];
  for (const [i, [text, why]] of cases.entries()) {
    makeRun(`${top}/yaml-${i}`, { log, files: { "config.yaml": text } });
    const { problems, record } = await only(`yaml-${i}`);
    assertEquals(problems.length, 1, `case ${i}`);
    assertMatch(problems[0], why);
    assertMatch(problems[0], /^config\.yaml: /);
    assertEquals([record?.step, record?.settings], [300, {}]);
  }
});

Deno.test("a lock that is a pipe, a link or of another process hangs nobody", async () => {
  const dir = `${top}/locks`;
  makeRun(dir, { record: {} });
  const lock = `${dir}/run.lock`;
  makePipe(lock);
  assertEquals((await only("locks")).state, "unknown");
  Deno.removeSync(lock);
  Deno.symlinkSync("/dev/zero", lock);
  assertEquals((await only("locks")).state, "unknown");
  Deno.removeSync(lock);
  const module = import.meta.resolve("./lock.ts");
  const script = `${top}/lock.ts`;
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  Deno.writeTextFileSync(
    script,
    `import { lockRun } from ${JSON.stringify(module)};
     for (let i = 0; i < 300; i++) {
       // What a killed run has left is what boards look into.
       Deno.writeTextFileSync(${JSON.stringify(lock)}, "");
       lockRun(${JSON.stringify(dir)}).release();
     }
     lockRun(${JSON.stringify(dir)});
     console.log("locked");
     setInterval(() => {}, 1e6);`,
  );
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "-q", "--no-check", "-c", config, script],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  let isSaid = false;
  // Looks turn no lock away.
  const said = reader.read().then(({ done }) => {
    isSaid = true;
    assertEquals(done, false);
  });
  while (!isSaid) await only("locks");
  await said;
  assertEquals((await only("locks")).state, "running");
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  assertEquals((await only("locks")).state, "killed");
});
