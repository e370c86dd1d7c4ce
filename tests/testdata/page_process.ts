/** Evaluates expressions in a page: see `inPage`. Prints a report as JSON. */
import { chromium } from "playwright-core";
import { CHROMIUM, type PageReport } from "./run_page.ts";

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
  js: "text/javascript",
  wasm: "application/wasm",
};

const PAGE = "<!DOCTYPE html><title>Test</title><link rel=icon href=data:,>";

/** Answers with a file of the folder. */
async function answer({ url }: Request): Promise<Response> {
  const { pathname } = new URL(url);
  const typed = (type: string) => ({ headers: { "content-type": type } });
  if (pathname === "/") return new Response(PAGE, typed("text/html"));
  const type = TYPES[pathname.split(".").at(-1)!] ?? "text/plain";
  try {
    const file = await Deno.open(folder + pathname);
    return new Response(file.readable, typed(type));
  } catch {
    return new Response("missing", { status: 404 });
  }
}

const [folder, ...expressions] = Deno.args;
const profile = await Deno.makeTempDir();
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: () => {} },
  answer,
);
const origin = `http://127.0.0.1:${server.addr.port}/`;
const context = await chromium.launchPersistentContext(profile, {
  executablePath: CHROMIUM,
  args: FLAGS,
});
try {
  const report: PageReport = { values: [], complaints: [] };
  const page = await context.newPage();
  page.on("pageerror", ({ message }) => report.complaints.push(message));
  page.on("console", (it) => {
    if (/error|warning/.test(it.type())) report.complaints.push(it.text());
  });
  page.on("request", (it) => {
    if (it.url().startsWith(origin) || it.url().startsWith("data:")) return;
    report.complaints.push(`request of ${it.url()}`);
  });
  await page.goto(origin);
  for (const it of expressions) report.values.push(await page.evaluate(it));
  console.log(JSON.stringify(report));
} finally {
  await context.close();
  await server.shutdown();
  await Deno.remove(profile, { recursive: true });
}
