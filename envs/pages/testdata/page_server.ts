/**
 * A server of one page, in a thread of its own: who waits for a page blocks this one.
 * The page calls the script with the kwargs that it gets.
 */
export interface PageServer extends AsyncDisposable {
  /** Address of the page; `missing` and `broken` beside it are. */
  readonly url: string;
}

const SOURCE = `
onmessage = ({ data: { script, html } }) => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: ({ port }) => postMessage(port) }, ({ url }) => {
    const { pathname } = new URL(url);
    if (pathname === "/game.js") return new Response(script, { headers: { "content-type": "text/javascript" } });
    if (pathname === "/broken") return new Response("<script>throw new Error('no canvas')</script>", { headers: { "content-type": "text/html" } });
    return pathname === "/missing"
      ? new Response("missing", { status: 404 })
      : new Response(html, { headers: { "content-type": "text/html" } });
  });
};`;

const PAGE =
  "<!doctype html><title>Game</title><link rel=icon href=data:,><script type=module src=game.js></script>";

/** Serves a page with a script, `game.js`. */
export async function servePage(
  script: string,
  html: string = PAGE,
): Promise<PageServer> {
  const worker = new Worker(
    `data:text/javascript,${encodeURIComponent(SOURCE)}`,
    { type: "module" },
  );
  const { promise, resolve } = Promise.withResolvers<number>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.postMessage({ script, html });
  const port = await promise;
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]() {
      worker.terminate();
      return Promise.resolve();
    },
  };
}

/** What tests alone import from npm is in a lock of its own. */
const LOCK = new URL("../../../tests/deno.lock", import.meta.url).pathname;

/** Bundles a module of TypeScript for pages and programs. */
export async function bundle(module: URL): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "bundle",
      "-q",
      "--platform=browser",
      `--lock=${LOCK}`,
      module.pathname,
    ],
  }).output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(new TextDecoder().decode(stderr));
}
