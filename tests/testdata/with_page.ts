import {
  type BrowserContext,
  chromium,
  type Page,
} from "npm:playwright-core@^1.65.1";
import { pathToFileURL } from "node:url";
import { CHROMIUM } from "./run_page.ts";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Types of the files that a page loads. */
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css",
  gif: "image/gif",
  html: "text/html",
  js: "text/javascript",
  svg: "image/svg+xml",
  wasm: "application/wasm",
};

const EMPTY = "<!DOCTYPE html><title>Test</title><link rel=icon href=data:,>";

/** A page, and what went on in it. */
export interface OpenPage {
  readonly page: Page;
  /** Everything that went wrong, and requests of other machines. */
  readonly complaints: string[];
  /** Names of the folder's files that were asked for. */
  readonly requested: string[];
}

type BrowserOptions = NonNullable<
  Parameters<typeof chromium.launchPersistentContext>[1]
>;

/** Options of a browser, and where the page is. */
interface PageOptions extends BrowserOptions {
  /**
   * Path of the folder on its server.
   *
   * @default "/"
   */
  prefix?: string;
}

/**
 * Opens the page of a folder, or an empty one next to its files, in a new browser,
 * and closes that after use.
 */
export async function withPage(
  folder: string,
  use: (open: OpenPage) => Promise<void>,
  { prefix = "/", ...options }: PageOptions = {},
): Promise<void> {
  const requested: string[] = [];
  const answer = async ({ url }: Request): Promise<Response> => {
    const pathname = decodeURIComponent(new URL(url).pathname);
    const name = pathname.replace(prefix, "") || "index.html";
    const typed = (type: string) => ({ headers: { "content-type": type } });
    const type = TYPES[name.split(".").at(-1)!] ?? "text/plain";
    requested.push(name);
    try {
      if (!pathname.startsWith(prefix)) throw new Error("elsewhere");
      const file = await Deno.open(`${folder}/${name}`);
      return new Response(file.readable, typed(type));
    } catch {
      return name === "index.html"
        ? new Response(EMPTY, typed("text/html"))
        : new Response("missing", { status: 404 });
    }
  };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    answer,
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  try {
    await withBrowser(async (context) => {
      const { page, complaints } = await watchedPage(context, origin);
      await page.goto(origin + prefix);
      await use({ page, complaints, requested });
    }, options);
  } finally {
    await server.shutdown();
  }
}

/** Opens a page from the disk, in a new browser, and closes that after use. */
export function withFile(
  path: string,
  use: (open: Omit<OpenPage, "requested">) => Promise<void>,
): Promise<void> {
  return withBrowser(async (context) => {
    // What is opened as a file is of no origin.
    const open = await watchedPage(context, "null");
    await open.page.goto(pathToFileURL(path).href);
    await use(open);
  });
}

/** Opens a browser of its own, and closes it after use. */
export async function withBrowser(
  use: (context: BrowserContext) => Promise<void>,
  options: BrowserOptions = {},
): Promise<void> {
  const profile = await Deno.makeTempDir();
  let context: BrowserContext | undefined;
  try {
    context = await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM,
      args: FLAGS,
      ...options,
    });
    await use(context);
  } finally {
    await context?.close();
    await Deno.remove(profile, { recursive: true });
  }
}

/** Opens an empty page, and keeps what goes wrong in it and what it asks of others. */
export async function watchedPage(
  context: BrowserContext,
  origin: string,
): Promise<Omit<OpenPage, "requested">> {
  const page = await context.newPage(), complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (it) => {
    if (/error|warning/.test(it.type())) complaints.push(it.text());
  });
  page.on("request", (it) => {
    const { origin: to, protocol } = new URL(it.url());
    if (to === origin || protocol === "data:") return;
    complaints.push(`request of ${it.url()}`);
  });
  return { page, complaints };
}
