import { HostFailure } from "../workers/host_failure.ts";
import {
  ChildProcess,
  describeEnd,
  within,
} from "../workers/processes/child.ts";
import { refusal } from "./_refusal.ts";
import { tiedCommand } from "./_tied.ts";

const FLAGS = [
  ...["--headless=new", "--remote-debugging-port=0", "--mute-audio"],
  ...["--no-first-run", "--no-default-browser-check", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update"],
  // What is not in front is to step as fast.
  ...[
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
  ],
  "--disable-backgrounding-occluded-windows",
  // Pages of other machines are to reach this one, and draw without a GPU.
  "--disable-features=LocalNetworkAccessChecks,SpareRendererForSitePerProcess",
  "--enable-unsafe-swiftshader",
];

/** Names under which there may be a browser. */
const NAMES = [
  ...["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Time between two looks for something, in milliseconds. */
const LOOK_MS = 20;
/** Time for an answer that needs no page, in milliseconds. */
const ANSWER_MS = 5_000;
/** Time for a tab to close, in milliseconds. */
const CLOSE_MS = 10_000;

/** Waits for milliseconds. */
export const later = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Finds a browser of this machine, or the one that is named. */
async function findBrowser(named: string): Promise<string> {
  const names = named === "auto" ? NAMES : [named];
  const script = 'for it; do command -v "$it" && exit; done';
  const { stdout } = await new Deno.Command("/bin/sh", {
    args: ["-c", script, "", ...names],
  }).output();
  const found = new TextDecoder().decode(stdout).trim();
  if (found !== "") return found;
  throw refusal(
    named === "auto"
      ? "there is no Chromium or Chrome: install one, or name its path in the setting browser"
      : `there is no browser '${named}': expected the path of Chromium or Chrome, auto or none`,
  );
}

/** Parameters or results of the DevTools protocol. */
// deno-lint-ignore no-explicit-any
type Data = Record<string, any>;

/** A message of the DevTools protocol. */
interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: Data;
  readonly result?: Data;
  readonly error?: { readonly message: string };
}

/** A tab of a browser. */
export interface Tab {
  /** Its name in the protocol. */
  readonly target: string;
  /** What its page threw until it is left alone. */
  readonly thrown: readonly string[];
  /** Watches it no longer. */
  leave(): void;
}

/** Chromium without a window, by its DevTools protocol. */
export class Browser {
  readonly #child: ChildProcess;
  readonly #socket: WebSocket;
  readonly #asked = new Map<number, (answer: Message) => void>();
  /** What pages threw, by session. */
  readonly #thrown = new Map<string, string[]>();
  #count = 0;

  private constructor(child: ChildProcess, socket: WebSocket) {
    this.#child = child;
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    socket.onclose = () => {
      for (const answer of this.#asked.values()) {
        answer({ error: { message: "the browser has ended" } });
      }
    };
  }

  /**
   * Starts a browser, which ends with this process.
   *
   * @param named Its path, or `auto`.
   * @throws {HostFailure} If there is none, or it ends.
   */
  static async start(named: string): Promise<Browser> {
    const program = await findBrowser(named);
    const folder = await Deno.makeTempDir({ prefix: "bellman-browser-" });
    const sandbox = Deno.uid() === 0 ? ["--no-sandbox"] : [];
    const flags = [...FLAGS, ...sandbox, `--user-data-dir=${folder}`];
    const child = new ChildProcess(
      tiedCommand([program, ...flags, "about:blank"], { folder }),
    );
    const address = await addressOf(child, `${folder}/DevToolsActivePort`);
    const socket = new WebSocket(address);
    await new Promise((resolve) => socket.onopen = socket.onerror = resolve);
    return new Browser(child, socket);
  }

  /** Id of its process. */
  get pid(): number {
    return this.#child.pid;
  }

  /** True once it can no longer be used. */
  get hasEnded(): boolean {
    return this.#socket.readyState !== WebSocket.OPEN;
  }

  /** Finds out if it answers; ends it if not, as one that is stopped. */
  async answers(): Promise<boolean> {
    let isHeard = false;
    const answer = this.#ask("Browser.getVersion", {});
    await within(ANSWER_MS, answer.then(() => isHeard = true, () => {}));
    if (!isHeard) this.#child.kill();
    return isHeard;
  }

  /**
   * Opens a page in a tab of its own window: hidden ones have a frame a second.
   *
   * @throws {HostFailure} If it cannot be loaded.
   */
  async open(url: string): Promise<Tab> {
    const { targetId: target } = await this.#ask("Target.createTarget", {
      ...{ url: "about:blank", newWindow: true },
    });
    const { sessionId } = await this.#ask("Target.attachToTarget", {
      ...{ targetId: target, flatten: true },
    });
    const thrown: string[] = [];
    this.#thrown.set(sessionId, thrown);
    const leave = () => {
      this.#thrown.delete(sessionId);
      this.#ask("Target.detachFromTarget", { sessionId }).catch(() => {});
    };
    try {
      await this.#ask("Runtime.enable", {}, sessionId);
      const { errorText } = await this.#ask(
        "Page.navigate",
        { url },
        sessionId,
      );
      if (errorText) {
        throw refusal(`${shown(url)} cannot be loaded: ${errorText}`);
      }
      const expression =
        "performance.getEntriesByType('navigation')[0]?.responseStatus";
      const { result } = await this.#ask(
        "Runtime.evaluate",
        { expression },
        sessionId,
      );
      if (result?.value < 400 || !result?.value) {
        return { target, thrown, leave };
      }
      throw refusal(`${shown(url)} answered ${result.value}`);
    } catch (error) {
      this.close(target);
      throw error;
    }
  }

  /**
   * Closes a tab. A browser forgets it in the midst of a reload; it waits a moment for
   * one that is busy, which begins anew when it is asked again.
   */
  async close(targetId: string): Promise<void> {
    try {
      for (let ms = LOOK_MS; ms < CLOSE_MS; ms *= 2) {
        await this.#ask("Target.closeTarget", { targetId }).catch(() => {});
        await later(ms);
        const { targetInfos } = await this.#ask("Target.getTargets", {});
        const isLeft = (targetInfos as Data[])
          .some((it) => it.targetId === targetId);
        if (!isLeft) return;
      }
    } catch {
      // The browser has ended, and all tabs with it.
    }
  }

  /** Ends it, and removes its files. */
  async end(): Promise<void> {
    await this.#child.close(false);
  }

  async #ask(
    method: string,
    params: Data,
    sessionId?: string,
  ): Promise<Data> {
    if (this.hasEnded) throw new HostFailure("exit", "its browser has ended");
    const id = ++this.#count;
    const answered = new Promise<Message>((resolve) => {
      this.#asked.set(id, resolve);
    });
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { result, error } = await answered;
    this.#asked.delete(id);
    if (error) {
      throw new HostFailure("exit", `its tab is gone: ${error.message}`);
    }
    return result!;
  }

  #hear(message: Message): void {
    if (message.id !== undefined) this.#asked.get(message.id)?.(message);
    if (message.method !== "Runtime.exceptionThrown") return;
    const { exception, text } = message.params!.exceptionDetails;
    const told = String(exception?.description ?? text).split("\n", 1)[0];
    this.#thrown.get(message.sessionId!)?.push(told);
  }
}

/** Returns an address without what the trainer added to it. */
function shown(address: string): string {
  const url = new URL(address);
  url.searchParams.delete("bellman");
  return url.href;
}

/** Waits for a browser to tell where it is reached. */
async function addressOf(child: ChildProcess, file: string): Promise<string> {
  for (;;) {
    if (child.end) throw refusal(`its browser ${describeEnd(child.end)}`);
    try {
      const [port, path] = (await Deno.readTextFile(file)).split("\n");
      if (path) return `ws://127.0.0.1:${port}${path}`;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    await later(LOOK_MS);
  }
}
