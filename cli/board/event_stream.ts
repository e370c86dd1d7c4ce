import type { BoardIndex } from "./board_index.ts";
import { readCurves, Turns } from "./curves.ts";
import { MOST_BYTES } from "./inside.ts";
import type {
  CurveAxis,
  CurvesUpdate,
  IndexUpdate,
  Thinning,
} from "./messages.ts";
import { fileIn } from "./run_entry.ts";
import type { Watch } from "./watch.ts";

/** Bytes that may wait for a reader. */
const WAITING_BYTES = 1 << 18;
/** Milliseconds without a read after which a stream is closed, and between two signs of life. */
const STUCK_MS = 30_000, BEAT_MS = 15_000;
/** Changes of the index in one event. */
const MOST_CHANGES = 100;

/** Limits of what a stream may ask for. */
const MOST = { requests: 16, statistics: 16, runs: 10_000 } as const;
const POINTS = { least: 16, most: 10_000 } as const;
const AXES: readonly CurveAxis[] = ["steps", "time", "episodes"];
const THINNINGS: readonly Thinning[] = ["extremes", "means"];

/** Curves that a stream sends. */
interface Curves {
  statistics: string[];
  x: CurveAxis;
  points: number;
  thinning: Thinning;
  /** Positions by run. */
  runs: Map<string, string>;
  /** The logs as they were when they were read last. */
  stamps: Map<string, string>;
}

/** What a stream sends: the query of its path. */
export interface StreamQuery {
  version: string | undefined;
  curves: Curves[];
}

/**
 * Parses the query that `streamPath` makes.
 *
 * @throws {SyntaxError} If it is none.
 */
export function parseQuery(query: URLSearchParams): StreamQuery {
  const curves = query.getAll("curves");
  if (curves.length > MOST.requests) {
    throw new SyntaxError(`more than ${MOST.requests} requests of curves`);
  }
  return {
    version: query.get("version") ?? undefined,
    curves: curves.map(parseCurves),
  };
}

function parseCurves(text: string): Curves {
  const [x, thinning, points, names = "", runs = ""] = text.split(" ");
  const statistics = names.split("*").map(decoded);
  const ids = runs === "" ? [] : runs.split("*");
  const count = Number(points);
  if (
    !AXES.includes(x as CurveAxis) ||
    !THINNINGS.includes(thinning as Thinning) ||
    !(count >= POINTS.least && count <= POINTS.most) ||
    statistics.length > MOST.statistics || ids.length > MOST.runs
  ) throw new SyntaxError("curves that cannot be sent");
  return {
    statistics,
    x: x as CurveAxis,
    thinning: thinning as Thinning,
    points: Math.floor(count),
    runs: new Map(ids.map((it) => {
      const [id, position = ""] = it.split(".");
      return [id, position];
    })),
    stamps: new Map(),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new SyntaxError("a name that cannot be decoded");
  }
}

/** Source of what streams send. */
export interface StreamSource {
  index: BoardIndex;
  watch: Watch;
}

/**
 * Makes a stream of server-sent events, which begins with what the page does not have
 * and goes on with what is new. What is sent is read when there is room for it, so
 * that nothing is kept for a reader that is slow, or that has stopped.
 *
 * @param source The index, and what looks at the folders.
 * @param query What is sent.
 * @param onEnd Called once it has ended.
 */
export function eventStream(
  { index, watch }: StreamSource,
  query: StreamQuery,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const writer = new EventWriter();
  let release = () => {};
  const pump = async () => {
    const sender = new Sender(index, query, writer);
    release = watch.listen(writer.wake);
    try {
      await watch.look();
      while (await sender.send()) await writer.change();
    } finally {
      release();
      writer.end();
      onEnd();
    }
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      writer.controller = controller;
      // An error closes the stream: the page opens another one.
      pump().catch(() => {});
    },
    pull: () => writer.drained(),
    cancel: () => writer.end(),
  }, new ByteLengthQueuingStrategy({ highWaterMark: WAITING_BYTES }));
}

/** Writes events as far as they are read. */
class EventWriter {
  controller!: ReadableStreamDefaultController<Uint8Array>;
  #isOpen = true;
  /** True where something may have changed since {@linkcode change} returned. */
  #isWoken = false;
  #resolve = () => {};
  readonly #encoder = new TextEncoder();

  /** Ends waiting, as there may be something new. */
  readonly wake = (): void => {
    this.#isWoken = true;
    this.#resolve();
  };

  /** Ends waiting for room. */
  drained(): void {
    this.#resolve();
  }

  /** Ends the stream. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      this.controller.close();
    } catch {
      // The reader has ended it.
    }
    this.#resolve();
  }

  /** Waits until there may be something new, with signs of life meanwhile. */
  async change(): Promise<void> {
    while (this.#isOpen && !this.#isWoken) {
      if (!await this.#wait(BEAT_MS)) this.#put(": beat\n\n");
      if (this.#isOpen && !await this.room()) return;
    }
    this.#isWoken = false;
  }

  /**
   * Waits until there is room for an event.
   *
   * @returns False where the stream has ended, as by a reader that stopped reading.
   */
  async room(): Promise<boolean> {
    const end = performance.now() + STUCK_MS;
    while (this.#isOpen && this.controller.desiredSize! <= 0) {
      const left = end - performance.now();
      if (left <= 0) this.end();
      else await this.#wait(left);
    }
    return this.#isOpen;
  }

  /** Writes an event. */
  write(event: string, { id, data }: { id: string; data: unknown }): void {
    this.#put(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #put(text: string): void {
    if (this.#isOpen) this.controller.enqueue(this.#encoder.encode(text));
  }

  /** Waits for something to happen; returns false when the time is over. */
  async #wait(duration: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), duration);
    this.#resolve = () => resolve(true);
    const isDone = await promise;
    clearTimeout(timer);
    return isDone;
  }
}

/** Sends what is new. */
class Sender {
  readonly #index: BoardIndex;
  readonly #query: StreamQuery;
  readonly #writer: EventWriter;
  readonly #turns = new Turns();

  constructor(index: BoardIndex, query: StreamQuery, writer: EventWriter) {
    this.#index = index;
    this.#query = query;
    this.#writer = writer;
  }

  /** Sends all that is new; returns false once the stream has ended. */
  async send(): Promise<boolean> {
    if (!await this.#sendIndex()) return false;
    for (let request = 0; request < this.#query.curves.length; request++) {
      for (const run of this.#query.curves[request].runs.keys()) {
        if (!await this.#sendCurves(request, run)) return false;
      }
    }
    return true;
  }

  async #sendIndex(): Promise<boolean> {
    for (;;) {
      if (!await this.#writer.room()) return false;
      const { version } = this.#query;
      if (version === undefined || !this.#index.isNewerThan(version)) {
        return true;
      }
      const data: IndexUpdate = this.#index.since(version, MOST_CHANGES);
      this.#query.version = data.version;
      this.#writer.write("index", { id: data.version, data });
    }
  }

  async #sendCurves(request: number, run: string): Promise<boolean> {
    const { runs, stamps, ...choice } = this.#query.curves[request];
    const entry = this.#index.runs.get(run);
    if (entry === undefined || stamps.get(run) === entry.logStamp) return true;
    if (!await this.#writer.room()) return false;
    const { logStamp } = entry;
    try {
      const log = fileIn(entry.place, entry.logName, MOST_BYTES.log);
      const points = await readCurves(log, choice, {
        position: runs.get(run)!,
        turns: this.#turns,
      });
      if (points !== undefined) {
        const data: CurvesUpdate = { request, run, ...points };
        runs.set(run, points.position);
        this.#writer.write("curves", { id: `${run}.${points.position}`, data });
      }
    } catch {
      // Its summary says why it cannot be read.
    }
    stamps.set(run, logStamp);
    return true;
  }
}
