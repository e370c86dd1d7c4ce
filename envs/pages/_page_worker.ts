/** The thread that speaks to pages and programs: its server, and its browser. */
import type { EnvParameters, EnvSpec, Space, StateTree } from "@bellman/types";
import { checkSpace } from "../spaces/check_space.ts";
import { flattenedSize } from "../spaces/flatten.ts";
import { bytesOf } from "../workers/_group_arrays.ts";
import { printToStderr } from "../workers/_print_to_stderr.ts";
import type {
  EnvSlice,
  GroupAnswer,
  GroupArrays,
} from "../workers/group_hosts.ts";
import {
  HostFailure,
  nameGroup,
  type SentError,
} from "../workers/host_failure.ts";
import { ChildProcess, describeEnd } from "../workers/processes/child.ts";
import {
  AnswerReader,
  HEAD,
  REQUEST,
} from "../workers/processes/host_messages.ts";
import { serveHosts } from "../workers/processes/host_thread.ts";
import {
  type HostCommand,
  NO_ANSWER,
} from "../workers/threads/_worker_messages.ts";
import type { HostProgram } from "../workers/threads/serve_worker.ts";
import { Browser, later, type Tab } from "./_browser.ts";
import { type Connection, Door, type PageMessage } from "./_door.ts";
import { refusal } from "./_refusal.ts";
import { tiedCommand } from "./_tied.ts";

/** Version of the messages. */
const PROTOCOL = 1;

/** Most numbers of an observation or action: a mistake would fill the memory. */
const MOST = 2 ** 26;

/** A group in a page, or in a program. */
export interface PageGroup {
  readonly range: EnvSlice;
  /** Arrays of the group, where they are allocated by now. */
  readonly arrays?: GroupArrays;
  /** Id of the environments. */
  readonly id: string;
  /** Address of the page, or the command that starts the program. */
  readonly page?: string;
  readonly program?: string;
  /** Path of a browser, `auto` or `none`. */
  readonly browser: string;
  readonly kwargs: object;
  readonly startTimeoutMs: number;
  /** True where what programs print goes to stderr, too. */
  readonly showPrints: boolean;
}

/** Text of a game. */
interface Told {
  readonly type: string;
  readonly protocol?: number;
  readonly observationSpace: Space;
  readonly actionSpace: Space;
  readonly masks?: boolean;
  readonly spec?: Partial<EnvSpec>;
  readonly framesPerSecond?: number;
  readonly worlds?: StateTree;
  readonly unread?: readonly string[];
}

/** Answer that each command but steps and resets has. */
const ANSWERS = {
  open: "opened",
  save: "saved",
  load: "done",
  parameters: "done",
};

/** What all groups of a thread share. */
class Station {
  #door?: Door;
  /** Secret of the pages that people open. */
  readonly shared: string = crypto.randomUUID();
  #browser?: Promise<Browser>;

  /** Opens only for a group, which then hears why it cannot. */
  get door(): Door {
    return this.#door ??= new Door();
  }

  /** Opens a page, in another browser where the one before ends meanwhile. */
  async open(url: string, named: string): Promise<[Browser, Tab]> {
    const browser = await this.#usable(named);
    try {
      return [browser, await browser.open(url)];
    } catch (error) {
      if (!browser.hasEnded) throw error;
      const another = await this.#usable(named);
      return [another, await another.open(url)];
    }
  }

  /** Returns the browser, a new one where there is none or it has ended. */
  async #usable(named: string): Promise<Browser> {
    const before = this.#browser;
    const isUsable = before && await (await before).answers();
    // Another group may have started one meanwhile.
    if (!isUsable && this.#browser === before) {
      const starting = this.#browser = Browser.start(named);
      starting.catch(() => this.#browser = undefined);
    }
    return await this.#browser!;
  }
}

/** Speaks to games, in a thread of this very module. */
export function main(): void {
  const station = new Station();
  serveHosts<PageGroup>((group) => new PageProgram(group, station));
}

/** What was started for a group, and is waited for. */
interface Guest {
  readonly pid: number;
  /** Rejects where it cannot come. */
  readonly failed: Promise<never>;
  /** Says more of why it has not come. */
  why(): string;
  /** Called once it has connected. */
  met(): void;
  close(): Promise<string | undefined>;
}

/** A person, who opens a page some time and closes it. */
const NOBODY: Guest = {
  ...{ pid: 0, failed: new Promise<never>(() => {}) },
  ...{ why: () => "", met: () => {}, close: () => Promise.resolve(undefined) },
};

/** Speaks to the page or program of a group. */
class PageProgram implements HostProgram {
  readonly #group: PageGroup;
  readonly #station: Station;
  #guest?: Guest;
  #connection?: Connection;
  #sizes?: {
    readonly begun: number;
    readonly fixed: number;
    readonly row: number;
  };
  #reader?: AnswerReader;
  #actions: readonly Uint8Array[] = [];
  #parameters: EnvParameters = {};
  /** True once it is known to answer each message once. */
  #isProven = false;
  readonly #closed = Promise.withResolvers<never>();

  constructor(group: PageGroup, station: Station) {
    this.#group = group;
    this.#station = station;
    this.#closed.promise.catch(() => {});
    if (group.arrays) this.attach(group.arrays);
  }

  get pid(): number {
    return this.#guest?.pid ?? 0;
  }

  attach(arrays: GroupArrays): void {
    const { observations, actionMasks, rewards } = arrays;
    const seen = [observations, ...actionMasks ? [actionMasks] : []]
      .flatMap(bytesOf).map((it) => it.length);
    const rows = rewards.length;
    const begun = seen.reduce((sum, it) => sum + padded(it), HEAD);
    this.#sizes = {
      ...{ begun, fixed: begun + 8 * rows + padded(2 * rows) },
      row: seen.reduce((sum, it) => sum + it, 0) / rows,
    };
    this.#actions = bytesOf(arrays.actions);
    this.#reader = new AnswerReader(arrays, true);
  }

  async run(command: HostCommand): Promise<() => GroupAnswer> {
    switch (command.type) {
      case "open":
        this.#connection = await this.#meet();
        return this.#opened(await this.#tell("open", this.#opening()));
      case "step":
      case "watch":
        return await this.#takeStep(command.type === "watch");
      case "reset": {
        const { seeds, parameters } = command;
        if (parameters) await this.#setParameters(parameters);
        return this.#begun(await this.#ask(textOf("reset", { seeds })));
      }
      case "save": {
        const { worlds } = await this.#tell("save", {});
        const isSaved = Array.isArray(worlds) && worlds.every(isWorld);
        if (isSaved) return () => ({ snapshot: { worlds } });
        throw this.#fault("without states", "one of each world");
      }
      case "load": {
        await this.#tell("load", command.snapshot as object);
        return () => NO_ANSWER;
      }
      case "parameters":
        return await this.#setParameters(command.values);
    }
    throw new TypeError(`Cannot ask a page to ${command.type}`);
  }

  async close(): Promise<string | undefined> {
    this.#closed.reject(new HostFailure("timeout", "it is silent"));
    this.#connection?.close();
    return await this.#guest?.close();
  }

  async #setParameters(values: EnvParameters): Promise<() => GroupAnswer> {
    this.#parameters = values;
    const { unread } = await this.#tell("parameters", { values });
    return () => ({ unread: Array.isArray(unread) ? unread : [] });
  }

  async #takeStep(isWatched: boolean): Promise<() => GroupAnswer> {
    const answer = await this.#ask(this.#step(isWatched));
    const finish = this.#stepped(answer, isWatched);
    if (this.#isProven) return finish;
    // Later a second answer would pass for that to the next step.
    const again = await this.#ask(
      textOf("parameters", { values: this.#parameters }),
    );
    if (again instanceof Uint8Array) {
      throw this.#fault("a second one to the same message", "one");
    }
    this.#isProven = true;
    return finish;
  }

  /** Starts the game, and waits until it connects. */
  async #meet(): Promise<Connection> {
    const { page, startTimeoutMs } = this.#group, { door } = this.#station;
    const isOpened = page !== undefined && this.#group.browser === "none";
    const visit = door.expect(
      page === undefined ? null : new URL(page).origin,
      isOpened ? this.#station.shared : undefined,
    );
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const what = page === undefined ? "program" : "page";
      const where = page ?? visit.address.replace(/[^/]*$/, "");
      late.reject(refusal(
        `no ${what} connected to ${where} within ${startTimeoutMs} ms${
          this.#guest?.why() ?? ""
        }`,
      ));
    }, startTimeoutMs);
    try {
      const guest = this.#guest = this.#invite(visit.address);
      const ends = [guest.failed, late.promise, this.#closed.promise];
      const connection = await Promise.race([visit.connection, ...ends]);
      guest.met();
      return connection;
    } finally {
      clearTimeout(timer);
      visit.cancel();
    }
  }

  #invite(address: string): Guest {
    const { page, browser } = this.#group;
    if (page === undefined) return this.#startProgram(address);
    const url = new URL(page);
    url.searchParams.set("bellman", address);
    if (browser !== "none") return this.#openTab(url.href, browser);
    const line = `Waiting for a page of ${this.#name}: open ${url.href}\n`;
    printToStderr(new TextEncoder().encode(line));
    return NOBODY;
  }

  #startProgram(address: string): Guest {
    const { program, showPrints } = this.#group;
    const child = new ChildProcess(
      tiedCommand(["/bin/sh", "-c", program!], {
        env: { BELLMAN_URL: address },
      }),
      showPrints,
    );
    // Its end is an answer that nobody sends.
    const failed = child.receive().then(() => {
      throw refusal("it printed what no game prints");
    }, (end: HostFailure) => {
      const { stack } = end, message = `its program ${describeEnd(child.end!)}`;
      throw new HostFailure("exit", message, { stack });
    });
    failed.catch(() => {});
    return {
      get pid() {
        return child.pid;
      },
      ...{ failed, why: () => "", met: () => {} },
      close: () => child.close(false),
    };
  }

  #openTab(url: string, named: string): Guest {
    const opening = this.#station.open(url, named);
    let opened: [Browser, Tab] | undefined;
    const failed = opening.then((it) => {
      opened = it;
      return new Promise<never>(() => {});
    });
    failed.catch(() => {});
    return {
      get pid() {
        return opened?.[0].pid ?? 0;
      },
      failed,
      why: () => opened?.[1].thrown.map((it) => `: it threw ${it}`)[0] ?? "",
      met: () => opening.then(([, tab]) => tab.leave(), () => {}),
      close() {
        // One that is busy takes a while, for which nobody has to wait.
        opening.then(
          ([browser, { target }]) => browser.close(target),
          () => {},
        );
        return Promise.resolve(undefined);
      },
    };
  }

  get #name(): string {
    return `${nameGroup(this.#group.range)} of ${this.#group.id}`;
  }

  #opening(): object {
    const { range: { first, numEnvs }, kwargs } = this.#group;
    return { protocol: PROTOCOL, numEnvs, first, kwargs, parameters: {} };
  }

  /** Makes the failure of an answer that cannot be used. */
  #fault(got: string, wanted: string): HostFailure {
    return refusal(
      this.#sizes
        ? `Cannot use the answer of ${this.#name}: it is ${got}, expected ${wanted}`
        : `its answer is ${got}, expected ${wanted}`,
    );
  }

  /** Sends a message, and waits for the answer; throws what the game threw. */
  async #ask(message: PageMessage): Promise<Uint8Array | Told> {
    const connection = this.#connection!;
    if (connection.isEarly) {
      throw this.#fault("a second one to the same message", "one");
    }
    const asked = connection.ask(message);
    const answer = await asked.catch(async (gone: HostFailure) => {
      // The end of a program says more than that it is gone.
      const isProgram = this.#group.program !== undefined;
      if (isProgram) await Promise.race([this.#guest!.failed, later(500)]);
      throw gone;
    });
    if (typeof answer !== "string") return answer;
    const told = this.#parsed(answer);
    if (told.type !== "error") return told;
    const { name, message: text, stack = "" } = told as unknown as SentError;
    throw new HostFailure("error", String(text), { name, stack });
  }

  #parsed(answer: string): Told {
    try {
      const told = JSON.parse(answer);
      // The states of worlds may have such texts, too.
      if (told?.type === "opened") {
        return JSON.parse(
          answer,
          (_, it) => it === "inf" ? Infinity : it === "-inf" ? -Infinity : it,
        );
      }
      if (typeof told?.type === "string") return told;
    } catch {
      // What it is instead is said below.
    }
    throw this.#fault(
      `the text ${JSON.stringify(answer.slice(0, 40))}`,
      "JSON with a type",
    );
  }

  async #tell(type: keyof typeof ANSWERS, rest: object): Promise<Told> {
    const answer = await this.#ask(textOf(type, rest)), wanted = ANSWERS[type];
    if (answer instanceof Uint8Array) {
      throw this.#fault(`${answer.length} bytes`, `the text '${wanted}'`);
    }
    if (answer.type === wanted) return answer;
    throw this.#fault(`'${answer.type}'`, `'${wanted}'`);
  }

  #opened(told: Told): () => GroupAnswer {
    const { masks, framesPerSecond } = told;
    if (told.protocol !== PROTOCOL) {
      throw this.#fault(`of protocol ${told.protocol}`, `protocol ${PROTOCOL}`);
    }
    const [observationSpace, actionSpace] =
      (["observationSpace", "actionSpace"] as const).map((name) => {
        if (told[name] === undefined) {
          throw this.#fault(`without ${name}`, "the spaces of a world");
        }
        return spaceOf(told[name]);
      });
    const { maxEpisodeSteps, rewardThreshold } = told.spec ?? {};
    const isLimit = Number.isInteger(maxEpisodeSteps ?? 1) &&
      (maxEpisodeSteps ?? 1) >= 1;
    if (!isLimit || !Number.isFinite(rewardThreshold ?? 0)) {
      throw this.#fault(
        `with the spec ${JSON.stringify(told.spec)}`,
        "numbers",
      );
    }
    return () => ({
      opened: {
        ...{ observationSpace, actionSpace, framesPerSecond },
        masksActions: masks === true,
        spec: {
          ...{ id: this.#group.id, looseBounds: true },
          ...{ maxEpisodeSteps, rewardThreshold },
        },
      },
    });
  }

  #step(isWatched: boolean): Uint8Array {
    const message = new Uint8Array(HEAD + this.#actionBytes);
    message[0] = isWatched ? REQUEST.watch : REQUEST.step;
    if (isWatched) return message;
    this.#eachAction((it, at) => message.set(it, HEAD + at));
    return message;
  }

  get #actionBytes(): number {
    return this.#actions.reduce((sum, it) => sum + padded(it.length), 0);
  }

  /** Calls a function with each array of actions, and its place in a message. */
  #eachAction(use: (it: Uint8Array, at: number) => void): void {
    let at = 0;
    for (const it of this.#actions) {
      use(it, at);
      at += padded(it.length);
    }
  }

  #begun(answer: Uint8Array | Told): () => GroupAnswer {
    const bytes = this.#bytes(answer, () => this.#sizes!.begun);
    return () => {
      this.#reader!.readObservations(bytes);
      return NO_ANSWER;
    };
  }

  #stepped(answer: Uint8Array | Told, isWatched: boolean): () => GroupAnswer {
    const { fixed, row } = this.#sizes!, rows = this.#group.range.numEnvs;
    const bytes = this.#bytes(answer, (it) => {
      const from = fixed - padded(2 * rows);
      let size = fixed + (isWatched ? this.#actionBytes : 0);
      for (let i = from; i < from + rows; i++) {
        if (it[i] + it[i + rows] > 0) size += row;
      }
      return size;
    });
    const taken = bytes.length - this.#actionBytes;
    return () => {
      this.#reader!.readStep(isWatched ? bytes.subarray(0, taken) : bytes);
      if (isWatched) {
        this.#eachAction((it, at) =>
          it.set(bytes.subarray(taken + at, taken + at + it.length))
        );
      }
      return NO_ANSWER;
    };
  }

  /** Checks the length of numbers. */
  #bytes(
    answer: Uint8Array | Told,
    wanted: (it: Uint8Array) => number,
  ): Uint8Array {
    if (!(answer instanceof Uint8Array)) {
      throw this.#fault(`the text '${answer.type}'`, "numbers");
    }
    const size = wanted(answer);
    if (answer.length === size) return answer;
    throw this.#fault(`of ${answer.length} bytes`, `${size}`);
  }
}

/** Finds out if this is a world's state; how many steps it plays again is used here. */
function isWorld(it: unknown): boolean {
  const { steps = 0 } = Object(it);
  return it === Object(it) && Number.isInteger(steps);
}

/** Checks a space. */
function spaceOf(space: Space): Space {
  checkSpace(space);
  const size = flattenedSize(space);
  if (size <= MOST) return space;
  throw new RangeError(
    `Cannot use a space of ${size} numbers: expected at most ${MOST}`,
  );
}

function textOf(type: string, rest: object): string {
  return JSON.stringify({ type, ...rest });
}

/** Rounds up to a multiple of eight. */
function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
