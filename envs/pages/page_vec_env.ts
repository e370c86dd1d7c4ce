import { checkDeno } from "@bellman/files";
import type { Batch, VecStep } from "@bellman/types";
import type { EnvKwargs } from "../registry/registry.ts";
import { AsyncVecEnv } from "../workers/async_vec_env.ts";
import { splitEnvs } from "../workers/group_hosts.ts";
import { checkCount, type HostOptions } from "../workers/restarts.ts";
import { PageHosts } from "./_page_hosts.ts";

/** Settings of a {@linkcode PageVecEnv}. */
export interface PageVecEnvOptions extends HostOptions {
  /** Number of environments: one for each agent of each world. */
  numEnvs: number;
  /**
   * Number of tabs or programs that share the environments.
   *
   * @default 1
   */
  workers?: number;
  /**
   * The browser of a page: its path, `auto` for the Chromium or Chrome of this machine,
   * or `none` for pages that people open, whose address is printed.
   *
   * @default "auto"
   */
  browser?: string;
  /**
   * Options that the game gets, as values of JSON.
   *
   * @default {}
   */
  kwargs?: EnvKwargs;
  /**
   * True to print to stderr what programs print.
   *
   * @default false
   */
  showOutput?: boolean;
}

/** Time by which a game that does not connect is given up before its host. */
const GRACE_MS = 5_000;

/** Beginnings of ids: a page's address follows, or the command of a program. */
const SCHEMES = ["page:", "program:"] as const;

/** Reads an id: an address, or a command. */
export function sourceOf(id: string): { page?: string; program?: string } {
  const scheme = SCHEMES.find((it) => id.startsWith(it)) ?? "";
  const rest = id.slice(scheme.length);
  if (scheme === "program:" && rest.trim() !== "") return { program: rest };
  const isPage = /^https?:$/.test(URL.parse(rest)?.protocol ?? "");
  if (scheme === "page:" && isPage) return { page: rest };
  throw new SyntaxError(
    `Cannot use the environment '${id}': expected the address of a page, such as page:http://127.0.0.1:5173/, or the command of a program, such as program:node game.js`,
  );
}

/**
 * Environments that live in pages of a browser or in programs, where games call
 * `connect` of `@bellman/client`: one message a step goes to each page and one comes
 * back. Worlds with several agents have a row for each, side by side, of one policy;
 * seats that compete, or have several policies, are a `World` for self-play instead.
 *
 * A page that crashes, closes, reloads, hangs or throws is replaced, as `AsyncVecEnv`
 * of `@bellman/envs/workers` describes. A snapshot holds the state of each world, or,
 * where it cannot be saved, where its random stream stood when its episode began and
 * the actions since, which `load` plays again; an episode that comes to something else
 * then is truncated by the next step. Bits are the same within one version of a browser,
 * as others round sines differently.
 *
 * @typeParam O Observations of all environments, such as `Float32Array`.
 * @typeParam A Their actions, such as `Int32Array`.
 *
 * @example
 * ```ts ignore
 * import { PageVecEnv } from "@bellman/envs/pages";
 *
 * const env = new PageVecEnv("page:http://127.0.0.1:5173/", {
 *   numEnvs: 16,
 *   workers: 2,
 * });
 * env.reset({ seed: 0 });
 * env.step(new Int32Array(16));
 * env.close();
 * ```
 */
export class PageVecEnv<
  O extends Batch = Batch,
  A extends Batch = Batch,
> extends AsyncVecEnv<O, A> {
  readonly #hosts: PageHosts;
  /** A step that people have taken. */
  #watched?: VecStep<O>;

  /**
   * Starts the browser or the programs, and waits until the games have connected.
   *
   * @param id `page:` and the address of a page, or `program:` and the command of a
   * program, which finds the address to connect to in BELLMAN_URL.
   * @param options Number and options of the environments, and the handling of games
   * that fail.
   * @throws {SyntaxError} If it is no such id.
   * @throws {RangeError} If a number among the options cannot be used.
   * @throws {Error} If there is no browser, or no game connects.
   */
  constructor(id: string, options: PageVecEnvOptions) {
    const { numEnvs, workers = 1, browser = "auto", kwargs = {} } = options;
    const { startTimeoutMs = 120_000, showOutput = false } = options;
    const source = sourceOf(id);
    checkDeno(`make ${id}`);
    checkCount("startTimeoutMs", startTimeoutMs, 1);
    const hosts = new PageHosts(splitEnvs(numEnvs, workers), {
      ...{ id, ...source, browser, kwargs, startTimeoutMs },
      showPrints: showOutput,
    });
    super(hosts, { ...options, startTimeoutMs: startTimeoutMs + GRACE_MS });
    this.#hosts = hosts;
  }

  /**
   * Waits until people have acted in each world, which then has a `watch`.
   *
   * @returns Their actions, with which `step` is to be called: `env.step(env.watch())`.
   * @throws {Error} If `reset` has not been called.
   */
  watch(): A {
    this.#watched = this.advance("watch");
    return this.actions;
  }

  /**
   * Takes one step in every environment, or returns that which `watch` has seen.
   *
   * @param actions One action for each environment.
   * @returns The step's result.
   */
  override step(actions: A): VecStep<O> {
    const step = this.#watched;
    this.#watched = undefined;
    return step ?? super.step(actions);
  }

  /**
   * Lists the processes of the programs or of the browser, group by group.
   *
   * @returns Their ids, of those that run.
   */
  pids(): number[] {
    return this.#hosts.pids();
  }
}
