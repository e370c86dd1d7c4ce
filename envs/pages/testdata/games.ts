import { HostFailure, type RestartEvent } from "../../workers/mod.ts";
import type { VecStep } from "@bellman/types";
import { PageVecEnv, type PageVecEnvOptions } from "../mod.ts";
import { bundle, servePage } from "./page_server.ts";

const CHROMIUM = "/usr/bin/chromium";

/** Names a module of this folder. */
const moduleOf = (name: string) => new URL(`./${name}.ts`, import.meta.url);

/** Scripts of games, bundled once. */
const scripts = new Map<string, Promise<string>>();

function scriptOf(game: string): Promise<string> {
  const known = scripts.get(game) ?? bundle(moduleOf(game));
  scripts.set(game, known);
  return known;
}

/** Environments, and the failures of their hosts so far. */
export interface Played {
  readonly env: PageVecEnv<Float32Array, Int32Array>;
  readonly failures: HostFailure[];
  /** Address of the page. */
  readonly url: string;
}

/** Settings of games in tests. */
export interface GameOptions extends Partial<PageVecEnvOptions> {
  /** Path on the page's server. */
  path?: string;
}

async function played(
  idOf: (url: string) => string,
  options: PageVecEnvOptions,
  { url, use }: { url: string; use: (it: Played) => void | Promise<void> },
): Promise<void> {
  const failures: HostFailure[] = [];
  const onRestart = ({ error }: RestartEvent) => void failures.push(error);
  const env = new PageVecEnv<Float32Array, Int32Array>(idOf(url), {
    ...{ startTimeoutMs: 60_000, onRestart, ...options },
  });
  try {
    await use({ env, failures, url });
  } finally {
    env.close();
  }
}

/** Plays a game of this folder in pages. */
export async function inPages(
  game: string,
  { path = "", ...options }: GameOptions,
  use: (it: Played) => void | Promise<void>,
): Promise<void> {
  await using server = await servePage(await scriptOf(game));
  const { url } = server;
  await played(
    (it) => `page:${it}${path}`,
    { numEnvs: 2, ...options },
    { url, use },
  );
}

/** Command that runs a game of this folder as a program of Deno. */
export function programOf(game: string, argument = ""): string {
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  return `program:'${Deno.execPath()}' run -A -q --no-check --config '${config}' '${
    moduleOf(game).pathname
  }' ${argument}`;
}

/** Plays a game of this folder in programs. */
export function inPrograms(
  game: string,
  { argument, ...options }: GameOptions & { argument?: string },
  use: (it: Played) => void | Promise<void>,
): Promise<void> {
  return played(
    () => programOf(game, argument),
    { numEnvs: 2, ...options },
    { url: "", use },
  );
}

/** Adds a test that needs a browser. */
export function testInPages(name: string, run: () => Promise<void>): void {
  let ignore = true;
  try {
    ignore = !Deno.statSync(CHROMIUM).isFile;
  } catch {
    // It is not there.
  }
  Deno.test({ name: `${name} [Chromium]`, ignore, fn: run });
}

/** Lists the processes of a browser that draw pages, of the group that it leads. */
export async function renderersOf(browser: number): Promise<number[]> {
  const { stdout } = await new Deno.Command("ps", {
    args: ["-eo", "pid,pgid,args", "--no-headers"],
  }).output();
  return new TextDecoder().decode(stdout).split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, group, ...args]) =>
      Number(group) === browser && args.includes("--type=renderer")
    ).map(([pid]) => Number(pid));
}

/** Tabs of a browser. */
export class Tabs {
  readonly #address: string;

  /** Finds where a browser tells of them. */
  constructor(browser: number) {
    const { stdout } = new Deno.Command("ps", {
      args: ["-ww", "-p", `${browser}`, "-o", "args="],
    }).outputSync();
    const args = new TextDecoder().decode(stdout);
    const [, folder] = /--user-data-dir=(\S+)/.exec(args)!;
    const [port] = Deno.readTextFileSync(`${folder}/DevToolsActivePort`)
      .split("\n");
    this.#address = `http://127.0.0.1:${port}/json`;
  }

  /** Lists those of games. */
  async list(): Promise<{ id: string; url: string }[]> {
    const response = await fetch(`${this.#address}/list`);
    const all: { id: string; url: string; type: string }[] = await response
      .json();
    return all.filter((it) => it.type === "page" && it.url !== "about:blank");
  }

  /** Closes one. */
  async close(id: string): Promise<void> {
    await (await fetch(`${this.#address}/close/${id}`)).text();
  }

  /** Waits until there are so many of games, and no more. */
  async settle(count: number): Promise<void> {
    let left = 0;
    for (let i = 0; i < 100; i++) {
      left = (await this.list()).length;
      if (left === count) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`${left} tabs are left, expected ${count}`);
  }
}

/** Numbers of a step, copied. */
export function numbersOf(step: VecStep): unknown[] {
  const { observations, rewards, terminated, truncated, lost } = step;
  return [
    (observations as Float32Array).slice(),
    ...[rewards.slice(), terminated.slice(), truncated.slice(), lost],
  ];
}

export { HostFailure };
