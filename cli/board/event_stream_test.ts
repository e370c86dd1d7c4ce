import { assert, assertEquals } from "@std/assert";
import { lockRun } from "@bellman/runs";
import { BoardIndex } from "./board_index.ts";
import { eventStream, parseQuery } from "./event_stream.ts";
import {
  type CurveRequest,
  type IndexUpdate,
  streamPath,
  type Subscription,
} from "./messages.ts";
import {
  HEADER,
  makeRun,
  rowsOf,
} from "../../lab/runs/folder/testdata/folders.ts";
import { askedBoard, eventsOf, type ServerEvent } from "./testdata/requests.ts";
import { Watch } from "./watch.ts";

const root = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-board-stream-" }),
);
for (let i = 0; i < 250; i++) {
  makeRun(`${root}/run-${i}`, {
    config: { seed: i },
    log: `${HEADER}\n${rowsOf(0, 20)}`,
    stopped: "completed",
  });
}
const board = await askedBoard([root]);
const ids = new Map<string, string>();

globalThis.addEventListener("unload", () => {
  Deno.removeSync(root, { recursive: true });
});

const curvesOf = (runs: [string, string][]): CurveRequest => ({
  statistics: ["rollout/return_mean", "a * b, c%"],
  x: "steps",
  points: 1000,
  thinning: "extremes",
  runs: new Map(runs),
});

const open = async (it: Subscription) => {
  const response = await board.get(streamPath(it));
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  return eventsOf(response);
};

const nextOf = async (events: AsyncGenerator<ServerEvent, void>) => {
  const { value } = await events.next();
  assert(value, "the stream has ended");
  return value;
};

Deno.test("the index comes some runs at a time, and goes on from its version", async () => {
  const events = await open({ version: "", curves: [] });
  const sizes: number[] = [], versions: string[] = [];
  while (ids.size < 250) {
    const { event, id, data } = await nextOf(events);
    assertEquals([event, data.version], ["index", id]);
    assertEquals(data.isWhole, sizes.length === 0);
    sizes.push(data.runs.length);
    versions.push(data.version);
    for (const run of data.runs) ids.set(run.name, run.id);
  }
  assertEquals(sizes, [100, 100, 50]);
  await events.return();
  const later = await open({ version: versions[1], curves: [] });
  const { data } = await nextOf(later);
  assertEquals([data.isWhole, data.runs.length], [false, 50]);
  Deno.removeSync(`${root}/run-249`, { recursive: true });
  const gone = await nextOf(later);
  assertEquals(gone.data.gone, [ids.get("run-249")]);
  await later.return();
  for (const version of ["none", "0123456789ab-zz", "-", versions[0] + "zzz"]) {
    const events = await open({ version, curves: [] });
    assertEquals((await nextOf(events)).data.isWhole, true, version);
    await events.return();
  }
});

Deno.test("rows come as they are written, and go on from a position", async () => {
  const dir = `${root}/run-3`, run = ids.get("run-3")!;
  const lock = lockRun(dir);
  const events = await open({ curves: [curvesOf([[run, ""]])] });
  const first = await nextOf(events);
  assertEquals([first.event, first.data.run], ["curves", run]);
  assertEquals(first.id, `${run}.${first.data.position}`);
  assertEquals([first.data.isWhole, first.data.request], [true, 0]);
  assertEquals(first.data.curves["rollout/return_mean"].x.length, 18);
  const append = (text: string) =>
    Deno.writeTextFileSync(`${dir}/progress.csv`, text, { append: true });
  append(rowsOf(20, 22) + "230,1");
  const second = await nextOf(events);
  assertEquals(second.data.isWhole, false);
  assertEquals(second.data.curves, {
    "rollout/return_mean": { x: [210, 220], y: [20, 21] },
  });
  await events.return();
  append(",1,80,5,\n");
  // The page has lost the connection before the second event came, and after.
  const again = await open({
    curves: [
      curvesOf([[run, second.data.position]]),
      curvesOf([[run, first.data.position], [ids.get("run-4")!, ""]]),
    ],
  });
  const [a, b, c] = [
    await nextOf(again),
    await nextOf(again),
    await nextOf(again),
  ].map(({ data }) => data);
  assertEquals(a.curves["rollout/return_mean"], { x: [230], y: [5] });
  assertEquals(b.curves["rollout/return_mean"].x, [210, 220, 230]);
  assertEquals([b.request, b.isWhole, c.run, c.isWhole], [
    1,
    false,
    ids.get("run-4"),
    true,
  ]);
  // A resumed run cuts its log back.
  Deno.writeTextFileSync(`${dir}/progress.csv`, `${HEADER}\n${rowsOf(0, 5)}`);
  const { data } = await nextOf(again);
  assertEquals([data.isWhole, data.curves["rollout/return_mean"].x], [
    true,
    [10, 20, 30, 40, 50],
  ]);
  await again.return();
  lock.release();
});

Deno.test("names of statistics pass through the path as they are", () => {
  const strange = ["a * b, c%", "%2A", "time/steps", "é +&=?#\n"];
  const request = { ...curvesOf([["0123456789", "a-b"]]), statistics: strange };
  const path = streamPath({ version: "v", curves: [request, request] });
  const query = parseQuery(new URL(path, "http://a").searchParams);
  assertEquals(query.version, "v");
  assertEquals(query.curves.length, 2);
  const { stamps: _, ...rest } = query.curves[1];
  assertEquals(rest, { ...request, runs: new Map(request.runs) });
});

/** Index that has something new again and again. */
class EndlessIndex extends BoardIndex {
  made = 0;
  override isNewerThan = () => true;
  override lookAtAll = () => Promise.resolve();
  override since = (): IndexUpdate => ({
    version: `${this.made++}`,
    isWhole: false,
    runs: [],
    experiments: [],
    searches: [],
    gone: ["0".repeat(50_000)],
    notices: [],
  });
}

Deno.test("nothing is kept for a reader that does not read", async () => {
  const index = new EndlessIndex([]);
  let hasEnded = false;
  const stream = eventStream(
    { index, watch: new Watch(index) },
    { version: "", curves: [] },
    () => hasEnded = true,
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert(index.made >= 5 && index.made <= 8, `${index.made} events`);
  const reader = stream.getReader();
  for (let i = 0; i < 20; i++) await reader.read();
  assert(index.made >= 20 && index.made <= 28, `${index.made} events`);
  await reader.cancel();
  await new Promise((resolve) => setTimeout(resolve));
  assert(hasEnded);
});

Deno.test("nothing is looked at while nobody looks", async () => {
  await board.close();
  let looks = 0;
  class CountedIndex extends BoardIndex {
    override get isLive() {
      return true;
    }
    override lookAtAll = () => Promise.resolve(void looks++);
    override lookAtLive = () => Promise.resolve(void looks++);
  }
  const watch = new Watch(new CountedIndex([]));
  const heard = Promise.withResolvers<void>();
  let count = 0;
  const release = watch.listen(() => ++count === 3 && heard.resolve());
  await heard.promise;
  release();
  const before = looks;
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assertEquals(looks, before);
});
