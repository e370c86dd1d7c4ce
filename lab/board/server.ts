import { openInside } from "@bellman/runs";
import { once } from "node:events";
import { closeSync, createReadStream, readSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { filesOf, Folders, type KnownFolder } from "./folders.ts";
import texts from "./page/texts.json" with { type: "json" };
import { Guard, HEADERS, SANDBOXED } from "./security.ts";

/** Options of {@linkcode serveBoard}. */
export interface BoardOptions {
  /** Root folders, some of which may be made later. */
  roots: readonly string[];
  /**
   * Port to listen on; 0 for a free one.
   *
   * @default 8650
   */
  port?: number;
  /**
   * Address to listen on; browsers must use the same one.
   *
   * @default "127.0.0.1"
   */
  host?: string;
  /**
   * Token of the address that opens the board.
   *
   * @default a new one of 128 random bits
   */
  token?: string;
  /**
   * Stops the board.
   *
   * @default it runs until it is closed
   */
  signal?: AbortSignal;
}

/** Running board. */
export interface Board {
  /** Address that opens it. */
  readonly url: string;
  /** Resolves when it has stopped. */
  readonly finished: Promise<void>;
  /** Stops it. */
  close(): Promise<void>;
}

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

const HTML = "text/html; charset=utf-8", JSON_TYPE = "application/json";

/**
 * Connections at a time, and milliseconds for a complete request and for an idle
 * connection.
 */
const MOST_CONNECTIONS = 128, REQUEST_MS = 3_000, IDLE_MS = 120_000;
/** Largest numbers of runs, columns and rows in a response, and bytes of a file. */
const MOST = { runs: 500, keys: 32, rows: 10_000, bytes: 100e6 };
/** Files of a folder that are served. */
const FILE =
  /^(?:(?:report|search)\.html|(?:(?:videos|plots)\/)?[\w-][\w.-]{0,100}\.(?:gif|mp4|png|svg))$/;

/**
 * Serves a page with all runs, experiments and searches of some folders, which it reads
 * repeatedly while the page is open. It writes nothing.
 *
 * @param options Folders, port and host: see {@linkcode BoardOptions}.
 * @returns The board, once it listens.
 * @throws {RangeError} If the port or the host cannot be used; one line says why.
 *
 * @example
 * ```ts
 * import { serveBoard } from "@bellman/board";
 * import { assertEquals } from "@std/assert";
 *
 * const board = await serveBoard({ roots: ["runs"], port: 0, token: "mine" });
 * const response = await fetch(board.url, { redirect: "manual" });
 * assertEquals(response.status, 303);
 * await board.close();
 * ```
 */
export async function serveBoard(
  { roots, port = 8650, host = "127.0.0.1", token, signal }: BoardOptions,
): Promise<Board> {
  signal?.throwIfAborted();
  const folders = new Folders(roots);
  // deno-lint-ignore prefer-const -- the port is known once it listens
  let guard: Guard;
  const server = createServer({
    headersTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: REQUEST_MS,
    connectionsCheckingInterval: REQUEST_MS / 5,
  }, (request, response) => {
    respond({ folders, guard }, request, response)
      .catch(() => response.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.timeout = IDLE_MS;
  await listen(server, port, host);
  const { port: openPort } = server.address() as AddressInfo;
  guard = new Guard(openPort, { host, token });
  const finished = new Promise<void>((end) => server.once("close", end));
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await finished;
  };
  signal?.addEventListener("abort", close, { once: true });
  const name = host.includes(":") ? `[${host}]` : host;
  const query = `token=${encodeURIComponent(guard.token)}`;
  return { url: `http://${name}:${openPort}/?${query}`, finished, close };
}

async function listen(
  server: Server,
  port: number,
  host: string,
): Promise<void> {
  if (["0.0.0.0", "::", ""].includes(host)) {
    throw new RangeError(
      `Cannot listen on '${host}': expected one address, as no other is answered`,
    );
  }
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const why = ({
      EADDRINUSE: "another program has it",
      EACCES: "this user may not have it",
      EADDRNOTAVAIL: `this machine has no address ${host}`,
      ENOTFOUND: `there is no address ${host}`,
    } as Record<string, string>)[(error as { code?: string }).code ?? ""];
    if (why === undefined) throw error;
    throw new RangeError(
      `Cannot listen on port ${port}: ${why}; expected a free port, such as 0`,
      { cause: error },
    );
  }
}

/** Response to a request. */
interface Answer {
  status?: number;
  /** Type of the body. */
  type?: string;
  /** Text, or an open file. */
  body?: string | { descriptor: number; size: number };
  headers?: Readonly<Record<string, string>>;
}

interface Served {
  folders: Folders;
  guard: Guard;
}

/** Sends the response to a request; a refusal closes its connection. */
async function respond(
  served: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status = 200, type, body = "", headers = HEADERS } = await answer(
    served,
    request,
  )
    .catch(() => plain(500, "The server has failed here"));
  if (status >= 400) response.shouldKeepAlive = false;
  response.writeHead(status, {
    ...headers,
    ...type !== undefined && { "content-type": type },
  });
  const isHead = request.method === "HEAD";
  if (typeof body === "string") {
    response.end(isHead ? "" : body);
    return;
  }
  const { descriptor: fd, size } = body;
  if (isHead || size === 0) {
    closeSync(fd);
    response.end();
    return;
  }
  await pipeline(
    createReadStream("", { fd, start: 0, end: size - 1 }),
    response,
  );
}

/** Returns the headers of a request, with all values of equal names. */
function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    headers.append(rawHeaders[i], rawHeaders[i + 1]);
  }
  return headers;
}

async function answer(
  { folders, guard }: Served,
  request: IncomingMessage,
): Promise<Answer> {
  const { method = "", url: target = "" } = request;
  const headers = headersOf(request);
  // The host is taken from the header, whatever precedes the path.
  const url = URL.parse(
    target.startsWith("/") ? `http://127.0.0.1${target}` : target,
  );
  if (url === null) return plain(400, "That is no path");
  const { pathname: path, search, searchParams: query } = url;
  const refusal = guard.refuse({ method, headers }, path + search);
  if (refusal !== undefined) return plain(refusal.status, refusal.text);
  const token = path === "/" ? query.get("token") : null;
  if (token !== null && guard.isToken(token)) {
    const leading = { location: "/", "set-cookie": guard.setCookie };
    return { ...plain(303, ""), headers: { ...HEADERS, ...leading } };
  }
  if (!guard.hasCookie(headers)) {
    return plain(403, "Open the address that the board has printed");
  }
  return await route(folders, path, query) ??
    plain(404, "There is no such thing");
}

/** Answers a valid request; undefined if there is no such resource. */
async function route(
  folders: Folders,
  path: string,
  query: URLSearchParams,
): Promise<Answer | undefined> {
  if (path === "/") return { type: HTML, body: PAGE };
  if (path === "/board.css") {
    return { type: "text/css; charset=utf-8", body: texts["board.css"] };
  }
  if (path === "/board.js") {
    return { type: "text/javascript; charset=utf-8", body: texts["board.js"] };
  }
  if (path === "/api/runs") {
    return json(await folders.since(Number(query.get("since")) || 0));
  }
  if (path === "/api/curves") return curves(folders, query);
  const [, id, file] =
    /^\/api\/runs\/([A-Za-z0-9_-]{10})(?:\/(.*))?$/.exec(path) ?? [];
  const known = id === undefined ? undefined : folders.get(id);
  if (known === undefined) return undefined;
  if (file === undefined) return json(filesOf(known));
  return FILE.test(file) ? sent(known, file) : undefined;
}

function curves(folders: Folders, query: URLSearchParams): Answer {
  const ids = (query.get("runs") ?? "").split(",");
  const since = (query.get("since") ?? "").split(",").map(Number);
  const keys = query.getAll("keys"), rows = Number(query.get("rows") ?? 1000);
  const isRow = (it: number) => Number.isSafeInteger(it) && it >= 0;
  const isGood = ids.length <= MOST.runs && since.length === ids.length &&
    since.every(isRow) && keys.length <= MOST.keys &&
    isRow(rows) && rows >= 2 && rows <= MOST.rows;
  if (!isGood) {
    return plain(
      400,
      `Expected up to ${MOST.runs} runs with a row of each, up to ${MOST.keys} keys, 2 to ${MOST.rows} rows`,
    );
  }
  const runs = new Map(ids.map((it, i) => [it, since[i]]));
  return json(folders.curves(runs, { keys, rows }));
}

function json(value: unknown): Answer {
  return { type: JSON_TYPE, body: JSON.stringify(value) };
}

function plain(status: number, line: string): Answer {
  const body = line === "" ? "" : `${line}\n`;
  return { status, type: "text/plain; charset=utf-8", body };
}

/**
 * Sends a file by the type of its first bytes, without running scripts; others as a
 * download.
 */
function sent({ listed, realRoot: root }: KnownFolder, name: string): Answer {
  const path = `${listed.dir}/${name}`, start = new Uint8Array(12);
  let file;
  try {
    file = openInside({ root, path, most: MOST.bytes });
  } catch {
    return plain(404, "It cannot be read");
  }
  try {
    readSync(file.descriptor, start, 0, start.length, 0);
  } catch {
    closeSync(file.descriptor);
    return plain(404, "It cannot be read");
  }
  const type = typeOf(name, String.fromCharCode(...start));
  return {
    type: type ?? "application/octet-stream",
    body: file,
    headers: {
      ...SANDBOXED,
      ...type === undefined &&
        { "content-disposition": "attachment; filename=file" },
    },
  };
}

function typeOf(name: string, start: string): string | undefined {
  if (name.endsWith(".html")) return HTML;
  if (name.endsWith(".svg")) return "image/svg+xml";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  if (start.startsWith("\x89PNG\r\n")) return "image/png";
  return start.slice(4, 8) === "ftyp" ? "video/mp4" : undefined;
}
