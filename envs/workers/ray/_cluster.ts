/** What Ray's driver does for a group of hosts, in the thread that speaks to them. */
import type { GroupAnswer } from "../group_hosts.ts";
import { HostFailure } from "../host_failure.ts";
import {
  type ChildCommand,
  type ChildEnd,
  ChildProcess,
  describeEnd,
  GRACE_MS,
  within,
} from "../processes/child.ts";
import { SocketChild, SocketListener } from "../processes/_socket_child.ts";
import { frameOf } from "../processes/frames.ts";
import type { HostProgram } from "../threads/serve_worker.ts";
import texts from "./driver/texts.json" with { type: "json" };
import type { RayOptions } from "./ray_options.ts";
import { rayProgram, rayPython, unsecured, whyNoRay } from "./ray_program.ts";

/** Version of the messages that both sides speak. */
const PROTOCOL = 1;

const TO_DRIVER = { start: 1, kill: 2, why: 3 } as const;
const FROM_DRIVER = ["hello", "started", "end", "waiting"] as const;

/** Time for Ray to answer, in milliseconds: the driver itself gives up sooner. */
const HELLO_MS = 120_000;
/** Time in which a cluster that could not be reached is not asked again. */
const PAUSE_MS = 2000;
/** Time for the driver to say how a process ended, in milliseconds. */
const WHY_MS = 2000;
/** Time in which a process that has ended may still be heard. */
const DRAIN_MS = 200;
/** Bytes of a secret, each of which is said as two digits. */
const SECRET = 16;

/** Settings of a cluster's driver, which are sent to its thread. */
export interface ClusterSettings extends Omit<RayOptions, "onNotice"> {
  /** Number of hosts. */
  readonly count: number;
  /** What the program of a host has to say its version is. */
  readonly version?: string;
}

/** What the driver says of the cluster. */
interface Cluster {
  readonly protocol: number;
  /** Address that Ray knows this machine by. */
  readonly address: string;
  /** CPUs of all nodes. */
  readonly cpus: number;
  /** True where nodes may be added. */
  readonly scales: boolean;
  /** True where the cluster asks for a token. */
  readonly secured: boolean;
}

/** Something that the driver says of the process of a host, or of the cluster. */
type DriverNews =
  & { readonly process: number }
  & (
    | { readonly type: "hello" } & Cluster
    | { readonly type: "started"; readonly pid: number; readonly node: string }
    | ({ readonly type: "end" } & ChildEnd)
    | {
      readonly type: "waiting";
      readonly wanted: number;
      readonly free: number;
      readonly cpus: number;
    }
  );

function decode(message: Uint8Array): DriverNews {
  const view = new DataView(message.buffer, message.byteOffset);
  const type = FROM_DRIVER[view.getUint8(0) - 1];
  const data = JSON.parse(new TextDecoder().decode(message.subarray(9)));
  return { ...data, type, process: view.getUint32(5, true) };
}

/** Listens at an address with or without a port. */
function listenAt(text: string, unproven: number) {
  const [, hostname, port = "0"] = /^(.+?)(?::(\d+))?$/.exec(text) ?? [];
  if (hostname === undefined || Number(port) >= 65536) {
    throw new TypeError(
      `Cannot listen at '${text}': expected HOST or HOST:PORT`,
    );
  }
  try {
    const at = { hostname, port: Number(port) };
    const listener = new SocketListener({ ...at, unproven });
    return { listener, address: { host: hostname, port: listener.port } };
  } catch (error) {
    const why = (error as Error).message.replace(/ \(os error \d+\)$/, "");
    throw new Error(`Cannot listen at ${hostname}:${port}: ${why}`);
  }
}

/**
 * The Python program through which Ray places and ends hosts, and the port that those
 * connect to. As a program itself it only reaches the cluster, when it is opened.
 */
export class RayCluster implements HostProgram {
  readonly pid = 0;
  readonly #settings: ClusterSettings;
  readonly #tell: (line: string) => void;
  readonly #hosts = new Map<number, RayHost>();
  #driver: ChildProcess | undefined;
  #reaching: Promise<Cluster> | undefined;
  #listening: ReturnType<typeof listenAt> | undefined;
  #started = 0;

  /** @param tell Function that takes a line that the user should see. */
  constructor(settings: ClusterSettings, tell: (line: string) => void) {
    this.#settings = settings;
    this.#tell = tell;
  }

  async run(): Promise<() => GroupAnswer> {
    const { cluster: name, listen, count } = this.#settings;
    const { cpus, scales, secured, address } = await this.reach();
    if (count > cpus && !scales) {
      throw new RangeError(
        `Cannot start ${count} hosts: the cluster at ${name} has ${cpus} CPUs, expected one for each`,
      );
    }
    if (!secured) this.#tell(unsecured(name));
    this.#listening = listenAt(listen ?? address, 2 * count + 16);
    return () => ({});
  }

  async close(): Promise<undefined> {
    this.#listening?.listener.close();
    await this.#driver?.close(false);
  }

  /** True while the driver runs. */
  get isDriven(): boolean {
    return this.#driver !== undefined;
  }

  /**
   * Starts the driver where there is none, and waits until it has reached the cluster.
   *
   * @throws {TypeError} If it cannot.
   */
  reach(): Promise<Cluster> {
    return this.#reaching ??= this.#begin();
  }

  async #begin(): Promise<Cluster> {
    const { python = rayPython() } = this.#settings;
    const command = rayProgram(texts["driver.py"], this.#settings);
    const driver = new ChildProcess(command);
    const timer = setTimeout(() => driver.kill(), HELLO_MS);
    const hello = await driver.receive().then(decode, () => undefined);
    clearTimeout(timer);
    if (hello?.type === "hello" && hello.protocol === PROTOCOL) {
      this.#driver = driver;
      // Its news comes after what is told of the cluster itself.
      setTimeout(() => this.#hear(driver));
      return hello;
    }
    await driver.close(true);
    setTimeout(() => this.#reaching = undefined, PAUSE_MS);
    throw new TypeError(whyNoRay(python, driver.end!));
  }

  /** Hears the driver until its end, with which Ray ends all hosts. */
  async #hear(driver: ChildProcess): Promise<void> {
    try {
      for (;;) this.#note(decode(await driver.receive()));
    } catch {
      this.#driver = this.#reaching = undefined;
      const end = { failure: "it was lost with Ray's driver", prints: "" };
      for (const host of this.#hosts.values()) host.note(end);
      this.#hosts.clear();
    }
  }

  #note(news: DriverNews): void {
    const host = this.#hosts.get(news.process);
    switch (news.type) {
      case "started":
        host?.started(news);
        break;
      case "end":
        host?.note(news);
        this.#hosts.delete(news.process);
        break;
      case "waiting": {
        const { wanted, free, cpus } = news;
        const rest = free < 1 ? "all in use" : `${Math.floor(free)} free`;
        const what = wanted === 1 ? "a CPU" : `${wanted} CPUs`;
        this.#tell(`Waiting for ${what}: the cluster has ${cpus}, ${rest}`);
      }
    }
  }

  /** Has a host started, and expects it. */
  place(host: RayHost, command: ChildCommand, secret: string): void {
    const { listener, address } = this.#listening!;
    this.#hosts.set(host.process = this.#started++, host);
    listener.expect(host);
    const { program, args = [], env = {} } = command;
    const { version } = this.#settings;
    const order = { program, args, env, secret, version, ...address };
    this.order("start", host, order);
  }

  /** Gives an order for the process of a host to the driver, if there is one. */
  order(
    kind: keyof typeof TO_DRIVER,
    { number, process }: RayHost,
    data: object = {},
  ): void {
    if (process === undefined) return;
    const head = new Uint8Array(9), view = new DataView(head.buffer);
    view.setUint8(0, TO_DRIVER[kind]);
    view.setUint32(1, number, true);
    view.setUint32(5, process, true);
    const text = new TextEncoder().encode(JSON.stringify(data));
    this.#driver?.send(frameOf(head, text));
  }
}

/**
 * A process that Ray starts on another machine. It connects to this one, and messages
 * go through that connection; Ray tells its end.
 */
export class RayHost extends SocketChild {
  readonly number: number;
  readonly #cluster: RayCluster;
  readonly #known = Promise.withResolvers<void>();
  /** Number of its process, which no other one has. */
  process: number | undefined;
  /** Address of its node, once it runs. */
  #node: string | undefined;
  /** The end of the process; that of the connection is another. */
  #fate: ChildEnd | undefined;

  /**
   * Has it started.
   *
   * @param cluster The cluster.
   * @param number Number of the host among all.
   * @param command What is run.
   */
  constructor(cluster: RayCluster, number: number, command: ChildCommand) {
    const secret = crypto.getRandomValues(new Uint8Array(SECRET)).toHex();
    super(secret);
    this.#cluster = cluster;
    this.number = number;
    this.#place(command, secret);
  }

  async #place(command: ChildCommand, secret: string): Promise<void> {
    try {
      await this.#cluster.reach();
      if (this.#fate !== undefined) return;
      this.#cluster.place(this, command, secret);
    } catch (error) {
      this.note({ failure: (error as Error).message, prints: "" });
    }
  }

  /** Notes where it runs. */
  started({ pid, node }: { pid: number; node: string }): void {
    this.pid = pid;
    this.#node = node;
  }

  /** Notes its end, of which there is one. */
  note(end: ChildEnd): void {
    if (this.#fate !== undefined) return;
    this.#fate = end;
    this.#known.resolve();
    // Its last words may still be under way.
    if (end.failure === undefined) setTimeout(() => this.kill(), DRAIN_MS);
    else this.kill();
  }

  override async ask(frame: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await super.ask(frame);
    } catch {
      if (this.#fate === undefined) await this.#askWhy(WHY_MS);
      if (this.#fate === undefined) this.#cluster.order("kill", this);
      this.note({ failure: "its connection was closed", prints: "" });
      const stack = this.#fate!.prints;
      throw new HostFailure("exit", this.#describe(), { stack });
    }
  }

  /** Waits for the driver to say how it ended. */
  async #askWhy(ms: number): Promise<void> {
    this.#cluster.order("why", this);
    if (this.#cluster.isDriven) await within(ms, this.#known.promise);
  }

  /** Describes its end, and what its node lacks, where that is why. */
  #describe(): string {
    const { failure, ...rest } = this.#fate!;
    if (failure !== undefined) return failure;
    const lack = /"([^"]+)"[^"\n]*--cached-only is specified/.exec(rest.prints);
    if (lack === null) return `its process ${describeEnd(rest)}`;
    return `node ${this.#node} has no '${
      lack[1]
    }' in the cache of its Deno: run 'deno cache envs/mod.ts' there, in a checkout of this version`;
  }

  override async close(atOnce: boolean): Promise<undefined> {
    // It ends with its input; the driver would end it before that.
    this.kill();
    if (this.#fate === undefined && atOnce) this.#cluster.order("kill", this);
    else if (this.#fate === undefined) await this.#askWhy(GRACE_MS);
    this.note({ failure: "it was given up", prints: "" });
  }
}
