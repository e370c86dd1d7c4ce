/** Processes of the command line that are killed as ordered. */
import { KILL_ME, ORDER, type Order } from "./filesystem.ts";
import { ROOT, workspaceFolders } from "../tools/packages.ts";

const url = (path: string): string => new URL(path, `file://${ROOT}`).href;

function configOf(folder: string): Record<string, unknown> {
  return JSON.parse(Deno.readTextFileSync(`${ROOT}${folder}/deno.json`));
}

/** Every name that modules of the workspace import, with ours for `node:fs`. */
function importMap(): unknown {
  const { imports, links } = configOf(".") as {
    imports: Record<string, string>;
    links: string[];
  };
  const names: Record<string, string> = {};
  for (const [name, target] of Object.entries(imports)) {
    names[name] = target;
    names[`${name}/`] = `${target.replace(/^npm:/, "npm:/")}/`;
  }
  for (const folder of [...workspaceFolders(), ...links]) {
    const { name, exports } = configOf(folder) as {
      name: string;
      exports: string | Record<string, string>;
    };
    const entries = typeof exports === "string" ? { ".": exports } : exports;
    for (const [entry, path] of Object.entries(entries)) {
      names[name + entry.slice(1)] = url(`${folder}/${path}`);
    }
  }
  const ours = url("tests/kills/filesystem.ts");
  return {
    imports: { ...names, "node:fs": ours },
    scopes: { [ours]: { "node:fs": "node:fs" } },
  };
}

let importMapPath: string | undefined;

globalThis.addEventListener("unload", () => {
  if (importMapPath !== undefined) Deno.removeSync(importMapPath);
});

/** End of a process. */
export interface Ended {
  /** It was killed as ordered, or by the time limit. */
  signal: Deno.Signal | null;
  code: number;
  output: string;
  errors: string;
  /** It had to be killed as it did not end. */
  hung: boolean;
}

/** Milliseconds after which a process hangs. */
const PATIENCE = 300_000;

/**
 * Runs the command line.
 *
 * @param args Its arguments.
 * @param order When it is to be killed.
 */
export async function runCli(args: string[], order: Order): Promise<Ended> {
  if (importMapPath === undefined) {
    importMapPath = await Deno.makeTempFile({ suffix: ".json" });
    await Deno.writeTextFile(importMapPath, JSON.stringify(importMap()));
  }
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-q",
      "-P=run",
      "--no-check",
      `--import-map=${importMapPath}`,
      `${ROOT}cli/main.ts`,
      ...args,
    ],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1", [ORDER]: JSON.stringify(order) },
  }).spawn();
  const kill = () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It was quicker.
    }
  };
  let hung = false;
  const timers = [setTimeout(() => {
    hung = true;
    kill();
  }, PATIENCE)];
  const output = new Response(child.stdout).text();
  let errors = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stderr) {
    errors += decoder.decode(chunk, { stream: true });
    if (timers.length === 1 && errors.includes(KILL_ME)) {
      timers.push(setTimeout(kill, order.delay));
    }
  }
  const { code, signal } = await child.status;
  timers.forEach(clearTimeout);
  return { code, signal, output: await output, errors, hung };
}
