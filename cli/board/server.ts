import { once } from "node:events";
import { closeSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { UsageError } from "../../lab/runs/program/errors.ts";
import { BoardIndex } from "./board_index.ts";
import { eventStream, parseQuery } from "./event_stream.ts";
import { ExperimentFigures } from "./experiment_details.ts";
import { MOST_BYTES, openInside, readPart, streamOf } from "./inside.ts";
import { MOST_STREAM_PATH } from "./messages.ts";
import { detailsOf, videosOf } from "./run_details.ts";
import { fileIn, type Place } from "./run_entry.ts";
import { Guard, HEADERS, SANDBOXED } from "./security.ts";
import { Watch } from "./watch.ts";

/** Streams at a time: one for each browser is enough. */
const MOST_STREAMS = 64;

/** Names of the page's files, and their types. */
const FILES: Readonly<Record<string, string>> = {
  "board.css": "text/css; charset=utf-8",
  "board.js": "text/javascript; charset=utf-8",
  "worker.js": "text/javascript; charset=utf-8",
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bellman board</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/board.css">
</head>
<body>
<main id="board"></main>
<noscript>The board needs JavaScript.</noscript>
<script type="module" src="/board.js"></script>
</body>
</html>
`;

/** Options of {@linkcode startBoard}. */
export interface BoardOptions {
  /** Folders that are shown, some of which may be made later. */
  roots: readonly string[];
  /** Port to listen on; 0 for a free one. */
  port: number;
  /** Texts of the page's files by name. */
  files: Readonly<Record<string, string>>;
}

/** A board that is served. */
export interface Board {
  /** Address that opens it. */
  url: string;
  /** Resolves once it has ended. */
  finished: Promise<void>;
  /** Ends it. */
  close(): Promise<void>;
}

/** Connections at a time: streams, and a few requests of each browser. */
const MOST_CONNECTIONS = 2 * MOST_STREAMS;

/** Milliseconds in which a request has to be whole, and after which an idle connection is closed. */
const REQUEST_MS = 3_000, IDLE_MS = 120_000;

/**
 * Serves the board on 127.0.0.1.
 *
 * @throws {UsageError} If another program has the port.
 */
export async function startBoard(
  { roots, port, files }: BoardOptions,
): Promise<Board> {
  const served = new BoardServer(roots, files);
  const server = createServer({
    // A page's streams have long paths.
    maxHeaderSize: MOST_STREAM_PATH + (1 << 14),
    headersTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: REQUEST_MS,
    connectionsCheckingInterval: REQUEST_MS / 5,
  }, (request, response) => {
    respond(served, request, response).catch(() => response.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.timeout = IDLE_MS;
  await listen(server, port);
  const { port: own } = server.address() as AddressInfo;
  const finished = new Promise<void>((end) => server.once("close", end));
  served.guard = new Guard(own);
  return {
    url: `http://127.0.0.1:${own}/?token=${served.guard.token}`,
    finished,
    async close() {
      server.close();
      server.closeAllConnections();
      await finished;
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    const why = ({
      EADDRINUSE: "another program has it",
      EACCES: "this user may not have it",
    } as Record<string, string>)[(error as { code?: string }).code ?? ""];
    if (why === undefined) throw error;
    throw new UsageError(
      `Cannot listen on port ${port}: ${why}; --port takes another one, --port 0 a free one`,
      { cause: error },
    );
  }
}

/** Sends the answer to a request; a refusal ends its connection. */
async function respond(
  served: BoardServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, headers, body } = await served.answer(request)
    .catch(() => plain(500, "The server has failed here"));
  if (status >= 400) response.shouldKeepAlive = false;
  response.writeHead(status, Object.fromEntries(headers));
  if (body === null) response.end();
  else await pipeline(Readable.fromWeb(body), response);
}

/** Returns the headers of a request: of several with one name all values. */
function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    headers.append(rawHeaders[i], rawHeaders[i + 1]);
  }
  return headers;
}

/** Answers a request that is admitted; undefined where there is no such thing. */
type Route = (
  ids: readonly string[],
  url: URL,
) => Response | Promise<Response> | undefined;

/** Paths of the interface: ids are the server's own. */
const ID = "([A-Za-z0-9_-]{10})";
const NAME = "([a-z0-9-]{1,100})";

class BoardServer {
  guard!: Guard;
  readonly #index: BoardIndex;
  readonly #watch: Watch;
  readonly #figures: ExperimentFigures;
  readonly #files: Readonly<Record<string, string>>;
  readonly #routes: readonly (readonly [path: RegExp, route: Route])[];
  #streams = 0;

  constructor(
    roots: readonly string[],
    files: Readonly<Record<string, string>>,
  ) {
    this.#index = new BoardIndex(roots);
    this.#watch = new Watch(this.#index);
    this.#figures = new ExperimentFigures(this.#index);
    this.#files = files;
    this.#routes = this.#paths().map(([path, route]) => [
      new RegExp(`^${path}$`),
      route,
    ]);
    // So that the first page has them at once.
    this.#watch.look().catch(() => {});
  }

  /** Answers a request. */
  async answer(request: IncomingMessage): Promise<Response> {
    const { method = "", url: target = "" } = request;
    const headers = headersOf(request);
    // The host is that of the header, whatever comes before the path.
    const url = URL.parse(
      target.startsWith("/") ? `http://127.0.0.1${target}` : target,
    );
    if (url === null) return plain(400, "That is no path");
    const { pathname: path, search, searchParams } = url;
    const isStream = path === "/api/events";
    const refusal = this.guard.refuse({ method, headers }, {
      path: path + search,
      most: isStream ? MOST_STREAM_PATH : undefined,
    });
    if (refusal !== undefined) return plain(refusal.status, refusal.text);
    const token = path === "/" ? searchParams.get("token") : null;
    if (token !== null && this.guard.isToken(token)) {
      const headers = { location: "/", "set-cookie": this.guard.setCookie };
      return plain(303, "", headers);
    }
    if (!this.guard.hasCookie(headers)) {
      return plain(403, "Open the address that 'deno task board' has printed");
    }
    const response = isStream && method === "HEAD"
      ? json(null)
      : await this.#route(path, url);
    if (method !== "HEAD") return response;
    await response.body?.cancel();
    return new Response(null, response);
  }

  async #route(path: string, url: URL): Promise<Response> {
    for (const [pattern, route] of this.#routes) {
      const found = pattern.exec(path);
      if (found === null) continue;
      const response = await route(found.slice(1), url);
      if (response !== undefined) return response;
    }
    return plain(404, "There is no such thing");
  }

  #paths(): (readonly [path: string, route: Route])[] {
    const { runs, experiments, searches } = this.#index;
    const found = <T>(
      map: ReadonlyMap<string, T>,
      act: (it: T) => Response | Promise<Response> | undefined,
    ): Route =>
    ([id]) => {
      const it = map.get(id);
      return it && act(it);
    };
    return [
      ["/", () => text(PAGE, "text/html; charset=utf-8")],
      ["/(board\\.css|board\\.js|worker\\.js)", ([name]) => this.#file(name)],
      ["/api/index", async () => {
        await this.#watch.look();
        return json(this.#index.since(""));
      }],
      ["/api/events", (_, url) => this.#stream(url.searchParams)],
      [`/api/runs/${ID}`, found(runs, (it) => json(detailsOf(it)))],
      [
        `/api/runs/${ID}/report`,
        found(runs, ({ place }) => report(place, "report.html")),
      ],
      [`/api/runs/${ID}/videos/${ID}`, ([id, video]) => {
        const run = runs.get(id);
        const file = run && videosOf(run).find((it) => it.id === video);
        return file && sentVideo(run.place, file.path);
      }],
      [
        `/api/experiments/${ID}`,
        found(experiments, async (it) => json(await this.#figures.details(it))),
      ],
      [
        `/api/experiments/${ID}/report`,
        found(experiments, ({ place }) => report(place, "report.html")),
      ],
      [`/api/experiments/${ID}/figures/${NAME}`, async ([id, name]) => {
        const it = experiments.get(id);
        const { figures } = it
          ? await this.#figures.figures(it)
          : { figures: [] };
        const figure = figures.find((it) => it.name === name);
        return figure
          ? text(figure.svg, "image/svg+xml", SANDBOXED)
          : plain(404, "There is no such figure");
      }],
      [`/api/searches/${ID}`, found(searches, (it) => json(it.details()))],
      [
        `/api/searches/${ID}/report`,
        found(searches, ({ place }) => report(place, "search.html")),
      ],
    ];
  }

  #file(name: string): Response | undefined {
    return Object.hasOwn(this.#files, name)
      ? text(this.#files[name], FILES[name])
      : undefined;
  }

  #stream(params: URLSearchParams): Response {
    if (this.#streams >= MOST_STREAMS) {
      return plain(503, "There are too many streams", { "retry-after": "5" });
    }
    let query;
    try {
      query = parseQuery(params);
    } catch (error) {
      return plain(400, `Cannot be sent: ${(error as Error).message}`);
    }
    this.#streams++;
    const source = { index: this.#index, watch: this.#watch };
    const body = eventStream(source, query, () => this.#streams--);
    const type = { "content-type": "text/event-stream" };
    return new Response(body, { headers: { ...HEADERS, ...type } });
  }
}

function text(
  body: string,
  type: string,
  headers: Readonly<Record<string, string>> = HEADERS,
): Response {
  return new Response(body, { headers: { ...headers, "content-type": type } });
}

function json(value: unknown): Response {
  return text(JSON.stringify(value), "application/json");
}

function plain(
  status: number,
  line: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const type = { "content-type": "text/plain; charset=utf-8" };
  const body = line === "" ? null : `${line}\n`;
  return new Response(body, {
    status,
    headers: { ...HEADERS, ...type, ...more },
  });
}

/** Sends a report, of which nothing is run. */
function report(place: Place, name: string): Response {
  return sent(place, name, {
    most: MOST_BYTES.report,
    headersOf: () => ({ "content-type": "text/html; charset=utf-8" }),
  });
}

/** Sends a video as what its first bytes are; anything else as a download. */
function sentVideo(place: Place, path: string): Response {
  return sent(place, path, {
    most: MOST_BYTES.video,
    headersOf: (start): Record<string, string> => {
      if (/^GIF8[79]a/.test(start)) return { "content-type": "image/gif" };
      if (start.slice(4, 8) === "ftyp") return { "content-type": "video/mp4" };
      return {
        "content-type": "application/octet-stream",
        "content-disposition": "attachment; filename=video",
      };
    },
  });
}

function sent(
  place: Place,
  name: string,
  { most, headersOf }: {
    most: number;
    /** Makes headers of the first letters. */
    headersOf: (start: string) => Record<string, string>;
  },
): Response {
  let file;
  try {
    file = openInside(fileIn(place, name, most));
  } catch {
    return plain(404, "It cannot be read");
  }
  try {
    const start = readPart(file.descriptor, { at: 0, length: 12 });
    const headers = headersOf(String.fromCharCode(...start));
    return new Response(streamOf(file), {
      headers: { ...SANDBOXED, ...headers },
    });
  } catch {
    closeSync(file.descriptor);
    return plain(404, "It cannot be read");
  }
}
