import {
  type CurveRequest,
  type CurvesUpdate,
  type IndexUpdate,
  MOST_STREAM_PATH,
  streamPath,
  type Subscription,
} from "../../messages.ts";
import { Index, Points, type PointsUpdate } from "./model.ts";

/** Curves that a tab shows. */
export interface Wish extends Omit<CurveRequest, "runs"> {
  runs: readonly string[];
}

/** State of the connection: `refused` where the cookie is missing. */
export type Connection = "live" | "lost" | "refused";

/** Message to a tab. */
export type HubMessage =
  | { type: "index"; update: IndexUpdate }
  | { type: "curves"; key: string; update: PointsUpdate }
  | { type: "connection"; connection: Connection };

/** Message of a tab. */
export type TabMessage =
  /** What it shows; null while it is hidden. */
  | { wishes: readonly Wish[] | null }
  /** Name of a lock that it holds as long as it is there. */
  | { lock: string };

/** What a stream is heard by. */
export interface StreamListener {
  onIndex(update: IndexUpdate): void;
  onCurves(update: CurvesUpdate): void;
  onError(): void;
}

/** How the hub reaches the server. */
export interface Server {
  /** Opens the stream of a path. */
  open(path: string, listener: StreamListener): { close(): void };
  /** Tells whether the server answers this browser. */
  isRefused(): Promise<boolean>;
}

/** Waits of a hub, in milliseconds. */
export interface Waits {
  /** Until a change of what is shown is asked for, as more may follow. */
  change: number;
  /** Until a lost connection is tried again. */
  retry: number;
  /** Until other runs are asked for, where there are too many for one stream. */
  turn: number;
}

const WAITS: Waits = { change: 100, retry: 2000, turn: 1500 };

/** Names what is asked of each run: not which runs. */
export function wishKey(
  { x, thinning, points, statistics }: Omit<Wish, "runs">,
): string {
  return JSON.stringify([x, thinning, points, statistics]);
}

interface Tab {
  send(message: HubMessage): void;
  /** Null while it is hidden. */
  wishes: readonly Wish[] | null;
  /** Wishes of its last moment in sight, whose points are kept. */
  lastWishes: readonly Wish[];
  hasIndex: boolean;
  /** Runs by key of which it has all points that are here. */
  current: Map<string, Set<string>>;
}

/** The one stream of all tabs: asks for what they show, and passes it on. */
export class Hub {
  readonly #server: Server;
  readonly #waits: Waits;
  readonly #index = new Index();
  readonly #points = new Points();
  readonly #tabs = new Set<Tab>();
  #stream: { close(): void } | undefined;
  /** Requests of the open stream. */
  #requests: readonly CurveRequest[] = [];
  #signature = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #connection: Connection = "live";
  /** Runs that had their turn, where not all can be asked for at a time. */
  #turns = new Set<string>();

  /** Makes a hub without tabs. */
  constructor(server: Server, waits: Partial<Waits> = {}) {
    this.#server = server;
    this.#waits = { ...WAITS, ...waits };
  }

  /** Adds a tab, which shows nothing yet. */
  add(send: (message: HubMessage) => void): {
    want(wishes: readonly Wish[] | null): void;
    remove(): void;
  } {
    const tab: Tab = {
      send,
      wishes: null,
      lastWishes: [],
      hasIndex: false,
      current: new Map(),
    };
    this.#tabs.add(tab);
    return {
      want: (wishes) => this.#want(tab, wishes),
      remove: () => {
        this.#tabs.delete(tab);
        this.#wake(this.#waits.change);
      },
    };
  }

  #want(tab: Tab, wishes: readonly Wish[] | null): void {
    tab.wishes = wishes;
    if (wishes === null) {
      tab.hasIndex = false;
      tab.current.clear();
    } else {
      tab.lastWishes = wishes;
      tab.send({ type: "connection", connection: this.#connection });
      if (!tab.hasIndex && this.#index.version !== "") {
        tab.send({ type: "index", update: this.#index.whole() });
        tab.hasIndex = true;
      }
      this.#catchUp(tab, wishes);
    }
    const isFirst = this.#stream === undefined && wishes !== null &&
      this.#connection === "live";
    this.#wake(isFirst ? 0 : this.#waits.change);
  }

  /** Sends a tab what is known already of what it shows now. */
  #catchUp(tab: Tab, wishes: readonly Wish[]): void {
    const before = tab.current;
    tab.current = new Map();
    for (const wish of wishes) {
      const key = wishKey(wish);
      const current = tab.current.get(key) ?? new Set();
      tab.current.set(key, current);
      for (const run of wish.runs) {
        if (current.has(run)) continue;
        current.add(run);
        const known = this.#points.of(key, run);
        if (known === undefined || before.get(key)?.has(run)) continue;
        const update = { run, isWhole: true, ...known };
        tab.send({ type: "curves", key, update });
      }
    }
  }

  /** Looks after some time whether the stream is the right one. */
  #wake(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#refresh(), milliseconds);
  }

  #refresh(): void {
    const tabs = [...this.#tabs];
    const kept = tabs.flatMap(({ lastWishes }) => lastWishes.map(wishKey));
    this.#points.keep(new Set(kept));
    if (tabs.every(({ wishes }) => wishes === null)) return this.#close();
    const wanted = this.#union();
    const { requests, isCut } = this.#fitting(wanted);
    const signature = JSON.stringify(
      requests.map((it) => [wishKey(it), [...it.runs.keys()].sort()]),
    );
    if (isCut) this.#wake(this.#waits.turn);
    if (this.#stream !== undefined && signature === this.#signature) return;
    this.#close();
    this.#signature = signature;
    this.#requests = requests;
    const path = streamPath(this.#subscription(requests));
    this.#stream = this.#server.open(path, {
      onIndex: (update) => this.#onIndex(update),
      onCurves: (update) => this.#onCurves(update),
      onError: () => this.#onError(),
    });
  }

  #close(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  #subscription(curves: readonly CurveRequest[]): Subscription {
    return { version: this.#index.version, curves };
  }

  /** Joins what all tabs in sight show. */
  #union(): CurveRequest[] {
    const byKey = new Map<string, { wish: Wish; runs: Map<string, string> }>();
    for (const { wishes } of this.#tabs) {
      for (const wish of wishes ?? []) {
        const key = wishKey(wish);
        const { runs } = byKey.get(key) ?? { runs: new Map() };
        for (const run of wish.runs) {
          runs.set(run, this.#points.of(key, run)?.position ?? "");
        }
        byKey.set(key, { wish, runs });
      }
    }
    return [...byKey.values()].map(({ wish, runs }) => ({ ...wish, runs }))
      .filter(({ runs, statistics }) => runs.size > 0 && statistics.length > 0)
      .slice(0, MOST_REQUESTS);
  }

  /** Takes turns where the path would be too long: runs that train are in each. */
  #fitting(
    wanted: readonly CurveRequest[],
  ): { requests: readonly CurveRequest[]; isCut: boolean } {
    const fits = (requests: readonly CurveRequest[]) =>
      streamPath(this.#subscription(requests)).length <= MOST_STREAM_PATH;
    if (fits(wanted)) return { requests: wanted, isCut: false };
    const all = new Set(wanted.flatMap(({ runs }) => [...runs.keys()]));
    const isLive = (run: string) =>
      this.#index.runs.get(run)?.state === "running";
    const waiting = [...all].filter((it) =>
      !isLive(it) && !this.#turns.has(it)
    );
    const order = [...[...all].filter(isLive), ...waiting];
    const only = (count: number) => {
      const chosen = new Set(order.slice(0, count));
      return wanted.map((it) => ({
        ...it,
        runs: new Map([...it.runs].filter(([run]) => chosen.has(run))),
      })).filter(({ runs }) => runs.size > 0);
    };
    let count = order.length;
    while (count > 0 && !fits(only(count))) count = Math.floor(count * 0.8);
    for (const run of order.slice(0, count)) this.#turns.add(run);
    return { requests: only(count), isCut: count < order.length };
  }

  #onIndex(update: IndexUpdate): void {
    this.#connect("live");
    this.#index.apply(update);
    this.#points.drop(update.gone);
    for (const tab of this.#tabs) {
      if (tab.wishes === null) continue;
      const whole = tab.hasIndex ? update : this.#index.whole();
      tab.hasIndex = true;
      tab.send({ type: "index", update: whole });
    }
  }

  #onCurves({ request, ...update }: CurvesUpdate): void {
    this.#connect("live");
    const key = wishKey(this.#requests[request]);
    this.#points.apply(key, update);
    for (const { current, send } of this.#tabs) {
      if (current.get(key)?.has(update.run)) {
        send({ type: "curves", key, update });
      }
    }
  }

  #onError(): void {
    this.#close();
    if (this.#connection === "live") this.#connect("lost");
    this.#wake(this.#waits.retry);
    this.#server.isRefused().then((isRefused) => {
      if (this.#connection === "live") return;
      this.#connect(isRefused ? "refused" : "lost");
    });
  }

  #connect(connection: Connection): void {
    if (connection === this.#connection) return;
    this.#connection = connection;
    for (const { send } of this.#tabs) send({ type: "connection", connection });
  }
}

/** Requests that a stream takes. */
const MOST_REQUESTS = 16;

/** Reaches the server by an `EventSource`. */
export const BROWSER: Server = {
  open(path, { onIndex, onCurves, onError }) {
    const source = new EventSource(path);
    const on = <Data>(name: string, hear: (data: Data) => void) =>
      source.addEventListener(
        name,
        ({ data }: MessageEvent) => hear(JSON.parse(data)),
      );
    on("index", onIndex);
    on("curves", onCurves);
    source.onerror = onError;
    return source;
  },
  async isRefused() {
    try {
      const { status } = await fetch("/api/index", { method: "HEAD" });
      return status === 403;
    } catch {
      return false;
    }
  },
};
