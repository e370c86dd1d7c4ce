import { assert, assertEquals } from "@std/assert";
import type { IndexUpdate, RunSummary } from "../../messages.ts";
import {
  Hub,
  type HubMessage,
  type Server,
  type StreamListener,
  type Wish,
  wishKey,
} from "./hub.ts";
import { Points } from "./model.ts";

/** Server that answers as the test says. */
class FakeServer implements Server {
  readonly paths: string[] = [];
  /** Streams that are open. */
  readonly open$ = new Set<StreamListener>();
  refused = false;

  open(path: string, listener: StreamListener): { close(): void } {
    this.paths.push(path);
    this.open$.add(listener);
    return { close: () => this.open$.delete(listener) };
  }

  isRefused(): Promise<boolean> {
    return Promise.resolve(this.refused);
  }

  /** The one stream that is open. */
  get stream(): StreamListener {
    assertEquals(this.open$.size, 1);
    return [...this.open$][0];
  }

  get query(): URLSearchParams {
    return new URL(this.paths.at(-1)!, "http://board").searchParams;
  }
}

const WAITS = { change: 1, retry: 5, turn: 5 };

const WISH: Wish = {
  statistics: ["rollout/return_mean"],
  x: "steps",
  points: 400,
  thinning: "means",
  runs: ["a", "b"],
};

const indexOf = (...runs: string[]): IndexUpdate => ({
  version: `v${runs.length}`,
  isWhole: true,
  runs: runs.map((id) => ({ id, state: "ended" }) as RunSummary),
  experiments: [],
  searches: [],
  gone: [],
  notices: [],
});

const pointsOf = (run: string, isWhole: boolean, ...x: number[]) => ({
  request: 0,
  run,
  isWhole,
  position: String(x.at(-1)),
  curves: { "rollout/return_mean": { x, y: x } },
});

/** Tab that keeps what it is sent. */
function tabOf(hub: Hub) {
  const heard: HubMessage[] = [], points = new Points();
  const tab = hub.add((message) => {
    heard.push(structuredClone(message));
    if (message.type === "curves") points.apply(message.key, message.update);
  });
  const xs = (run: string) =>
    points.of(wishKey(WISH), run)?.curves["rollout/return_mean"].x;
  const last = (type: HubMessage["type"]) =>
    heard.findLast((it) => it.type === type);
  return { ...tab, heard, xs, last };
}

const pause = (milliseconds = 10) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !holds(); i++) await pause(2);
  assert(holds());
}

Deno.test("tabs share a stream of all that they show, and get what they show", async () => {
  const server = new FakeServer(), hub = new Hub(server, WAITS);
  const [one, two] = [tabOf(hub), tabOf(hub)];
  one.want([WISH]);
  two.want([{ ...WISH, runs: ["b", "c"] }]);
  await until(() => server.query.get("curves")?.endsWith("a.*b.*c.") ?? false);
  server.stream.onIndex(indexOf("a", "b", "c"));
  for (const run of ["a", "b", "c"]) {
    server.stream.onCurves(pointsOf(run, true, 1));
  }
  server.stream.onCurves(pointsOf("b", false, 2));
  assertEquals(["a", "b", "c"].map(one.xs), [[1], [1, 2], undefined]);
  assertEquals(["a", "b", "c"].map(two.xs), [undefined, [1, 2], [1]]);
  for (const tab of [one, two]) {
    assertEquals(tab.heard.filter((it) => it.type === "index").length, 1);
    tab.remove();
  }
  await until(() => server.open$.size === 0);
});

Deno.test("a tab that comes later gets all that is there, without another question", async () => {
  const server = new FakeServer(), hub = new Hub(server, WAITS);
  const one = tabOf(hub), two = tabOf(hub);
  one.want([WISH]);
  await until(() => server.open$.size === 1);
  server.stream.onIndex(indexOf("a"));
  server.stream.onCurves(pointsOf("a", true, 1, 2));
  two.want([WISH]);
  await pause();
  assertEquals(server.paths.length, 1);
  assertEquals(two.xs("a"), [1, 2]);
  assert(two.last("index"));
  one.remove();
  two.remove();
  await until(() => server.open$.size === 0);
});

Deno.test("after a lost connection nothing is asked for twice", async () => {
  const server = new FakeServer(), hub = new Hub(server, WAITS);
  const tab = tabOf(hub);
  tab.want([WISH]);
  await until(() => server.open$.size === 1);
  server.stream.onIndex(indexOf("a", "b"));
  server.stream.onCurves(pointsOf("a", true, 1, 2));
  server.stream.onError();
  assertEquals(server.open$.size, 0);
  assertEquals(tab.last("connection"), {
    type: "connection",
    connection: "lost",
  });
  await until(() => server.open$.size === 1);
  assertEquals(server.query.get("version"), "v2");
  assert(server.query.get("curves")!.endsWith("a.2*b."));
  server.stream.onCurves(pointsOf("a", false, 3));
  assertEquals(tab.xs("a"), [1, 2, 3]);
  assertEquals(tab.last("connection"), {
    type: "connection",
    connection: "live",
  });
  // A resumed run was cut back.
  server.stream.onCurves(pointsOf("a", true, 1, 5));
  assertEquals(tab.xs("a"), [1, 5]);
  tab.remove();
  await until(() => server.open$.size === 0);
});

Deno.test("a browser without the cookie is told so", async () => {
  const server = new FakeServer(), hub = new Hub(server, WAITS);
  server.refused = true;
  const tab = tabOf(hub);
  tab.want([]);
  await until(() => server.open$.size === 1);
  server.stream.onError();
  await until(() => {
    const last = tab.last("connection");
    return last?.type === "connection" && last.connection === "refused";
  });
  // Another attempt says nothing else, until there is an answer.
  const before = tab.heard.length;
  await until(() => server.open$.size === 1);
  server.stream.onError();
  await until(() => server.open$.size === 1);
  assertEquals(tab.heard.length, before);
  server.stream.onIndex(indexOf());
  assertEquals(tab.last("connection"), {
    type: "connection",
    connection: "live",
  });
  tab.remove();
  await pause();
});

Deno.test("where all tabs are hidden there is no stream, and later no gap", async () => {
  const server = new FakeServer(), hub = new Hub(server, WAITS);
  const tab = tabOf(hub);
  tab.want([WISH]);
  await until(() => server.open$.size === 1);
  server.stream.onIndex(indexOf("a"));
  server.stream.onCurves(pointsOf("a", true, 1));
  tab.want(null);
  await until(() => server.open$.size === 0);
  tab.want([WISH]);
  assertEquals(tab.xs("a"), [1]);
  await until(() => server.open$.size === 1);
  assert(server.query.get("curves")!.endsWith("a.1*b."));
  server.stream.onCurves(pointsOf("a", false, 2));
  assertEquals(tab.xs("a"), [1, 2]);
  tab.remove();
  await until(() => server.open$.size === 0);
});

Deno.test("a run that was out of sight for a while comes whole", async () => {
  const server = new FakeServer(), hub = new Hub(server, WAITS);
  const [one, two] = [tabOf(hub), tabOf(hub)];
  for (const tab of [one, two]) tab.want([WISH]);
  await until(() => server.open$.size === 1);
  server.stream.onCurves(pointsOf("a", true, 1));
  one.want([{ ...WISH, runs: ["b"] }]);
  server.stream.onCurves(pointsOf("a", false, 2));
  assertEquals(one.xs("a"), [1]);
  one.want([WISH]);
  assertEquals([one, two].map(({ xs }) => xs("a")), [[1, 2], [1, 2]]);
  for (const tab of [one, two]) tab.remove();
  await until(() => server.open$.size === 0);
});

Deno.test("where the path would be too long, all runs have their turn", async () => {
  const server = new FakeServer(), hub = new Hub(server, WAITS);
  const tab = tabOf(hub);
  const runs = Array.from({ length: 8000 }, (_, i) => `run-${i}`);
  tab.want([{ ...WISH, runs }]);
  const asked = () =>
    new Set(
      server.paths.flatMap((path) =>
        new URL(path, "http://board").searchParams.get("curves")
          ?.split(" ").at(-1)?.split("*") ?? []
      ),
    );
  await until(() => asked().size === runs.length);
  assert(server.paths.every((it) => it.length <= 60_000));
  tab.remove();
  await until(() => server.open$.size === 0);
});
