import { HostFailure } from "../host_failure.ts";
import { printToStderr } from "../_print_to_stderr.ts";
import type { Children } from "../processes/_child_hosts.ts";
import type { ChildEnd } from "../processes/_io_messages.ts";
import {
  type ChildCommand,
  ChildGroup,
  describeEnd,
} from "../processes/child_group.ts";
import { type Cluster, type DriverNews, RayDriver } from "./_driver.ts";
import type { RayOptions } from "./ray_options.ts";
import { unsecured } from "./ray_program.ts";

/** Time for the driver to say how a process ended, in milliseconds. */
const WHY_MS = 2000;
/** Time for hosts to end by themselves. */
const GRACE_MS = 2000;

/** The current process of a host, as this side knows it. */
interface RayHost {
  readonly process: number;
  pid: number;
  /** Address of its node, once it runs. */
  node?: string;
  end?: ChildEnd;
}

/** Describes how a process ended, and what its node lacks, where that is why. */
function describeHost({ node, end }: RayHost): string {
  const { failure, ...rest } = end!;
  if (failure !== undefined) return failure;
  const lack = /"([^"]+)"[^"\n]*--cached-only is specified/.exec(rest.prints);
  if (lack === null) return `its process ${describeEnd(rest)}`;
  return `node ${node} has no '${
    lack[1]
  }' in the cache of its Deno: run 'deno cache envs/mod.ts' there, in a checkout of this version`;
}

function warn(line: string): void {
  printToStderr(new TextEncoder().encode(`Warning: ${line}\n`));
}

/** Splits an address with or without a port. */
function parseListen(text: string): { hostname: string; port: number } {
  const [, hostname, port = "0"] = /^(.+?)(?::(\d+))?$/.exec(text) ?? [];
  if (hostname !== undefined && Number(port) < 65536) {
    return { hostname, port: Number(port) };
  }
  throw new TypeError(
    `Cannot listen at '${text}': expected HOST or HOST:PORT`,
  );
}

/**
 * Children of a {@linkcode ChildGroup}'s kind that Ray starts on other machines. They
 * connect to this process, and messages go through those connections; Ray places
 * processes, and ends them.
 */
export class RayGroup implements Children {
  /** The cluster, as its driver described it. */
  readonly cluster: Cluster;
  readonly #group: ChildGroup;
  readonly #driver: RayDriver;
  readonly #hosts: RayHost[] = [];
  readonly #address: { readonly host: string; readonly port: number };
  readonly #version: string | undefined;
  readonly #onNotice: (line: string) => void;
  /** True from the driver's first message until its end was noted. */
  #isDriven = false;
  #isClosed = false;

  /**
   * Reaches the cluster and listens for hosts.
   *
   * @param count Number of children.
   * @param options The cluster; `version` is what the program of a child has to say,
   * `events` a shared word that is increased with all news of children.
   * @throws {TypeError} If the cluster cannot be reached, or this process cannot
   * listen there.
   * @throws {RangeError} If the cluster has too few CPUs.
   */
  constructor(
    count: number,
    options: RayOptions & { version?: string; events?: Int32Array },
  ) {
    const { cluster: address, listen, onNotice = warn, events } = options;
    this.#group = new ChildGroup({ graceMs: GRACE_MS, events });
    this.#onNotice = onNotice;
    this.#version = options.version;
    this.#driver = new RayDriver(this.#group, count, options);
    try {
      const wanted = listen === undefined ? undefined : parseListen(listen);
      this.cluster = this.#driver.start();
      this.#isDriven = true;
      const { cpus, scales, secured, address: own } = this.cluster;
      if (count > cpus && !scales) {
        throw new RangeError(
          `Cannot start ${count} hosts: the cluster at ${address} has ${cpus} CPUs, expected one for each`,
        );
      }
      if (!secured) onNotice(unsecured(address));
      const { hostname, port } = wanted ?? { hostname: own, port: 0 };
      const unproven = 2 * count + 16;
      this.#address = {
        host: hostname,
        port: this.#group.listen({ hostname, port, unproven }),
      };
    } catch (error) {
      this.#group.close();
      throw error;
    }
  }

  start(child: number, command: ChildCommand): void {
    const former = this.#hosts[child];
    if (former !== undefined && former.end === undefined) this.#giveUp(child);
    const end = this.#startDriver();
    const { process, secret } = this.#group.expect(child);
    this.#hosts[child] = { process, pid: 0, end };
    if (end !== undefined) return this.#group.kill(child);
    const { program, args = [], env = {} } = command;
    this.#driver.startHost(child, process, {
      ...{ program, args, env, secret, version: this.#version },
      ...this.#address,
    });
  }

  /** Starts a new driver where there is none, and all hosts are gone; returns why not. */
  #startDriver(): ChildEnd | undefined {
    this.#hear();
    if (this.#isDriven) return undefined;
    try {
      this.#driver.start();
      this.#isDriven = true;
    } catch (error) {
      return { failure: (error as Error).message, prints: "" };
    }
  }

  send(child: number, ...parts: readonly Uint8Array[]): void {
    this.#group.send(child, ...parts);
  }

  waitFor(children: readonly number[], timeoutMs = Infinity): boolean {
    return this.#group.wait(() => {
      this.#hear();
      return children.every((it) => this.#isReady(it));
    }, timeoutMs);
  }

  #isReady(child: number): boolean {
    return this.#hosts[child].end !== undefined ||
      this.#group.waitFor([child], 0);
  }

  receive(child: number, timeoutMs = Infinity): Uint8Array {
    this.waitFor([child], timeoutMs);
    if (this.#group.has(child)) return this.#group.receive(child, 0);
    if (!this.#isReady(child)) {
      this.#giveUp(child);
      throw new HostFailure("timeout", "it is silent");
    }
    const host = this.#hosts[child];
    host.end ??= this.#why(child);
    const stack = host.end.prints;
    throw new HostFailure("exit", describeHost(host), { stack });
  }

  /** Finds out how a process ended whose connection was closed. */
  #why(child: number): ChildEnd {
    const host = this.#hosts[child];
    if (this.#isDriven) {
      this.#driver.askWhy(child, host.process);
      this.#group.wait(() => {
        this.#hear();
        return host.end !== undefined;
      }, WHY_MS);
    }
    if (host.end !== undefined) return host.end;
    this.#giveUp(child);
    return this.#end(child, this.#group.end(child)!);
  }

  /** Does nothing: named pipes are of one machine. */
  usePipes(): void {}

  end(child: number): ChildEnd | undefined {
    this.#hear();
    return this.#hosts[child].end;
  }

  pid(child: number): number {
    this.#hear();
    return this.#hosts[child].pid;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const open = [...this.#hosts.keys()].filter((it) =>
      this.#hosts[it].end === undefined
    );
    // Hosts end with their input; the driver would end them before that.
    for (const child of open) this.#group.kill(child);
    if (this.#isDriven) {
      for (const child of open) {
        this.#driver.askWhy(child, this.#hosts[child].process);
      }
      this.#group.wait(() => {
        this.#hear();
        return open.every((it) => this.#hosts[it].end !== undefined);
      }, GRACE_MS);
    }
    this.#group.close();
  }

  /** Ends a process, on whose node something is wrong. */
  #giveUp(child: number): void {
    this.#group.kill(child);
    const { process } = this.#hosts[child];
    if (this.#isDriven) this.#driver.killHost(child, process);
  }

  #end(child: number, end: ChildEnd): ChildEnd {
    this.#group.kill(child);
    return this.#hosts[child].end = end;
  }

  /** Takes what the driver has said, and its end. */
  #hear(): void {
    for (const news of this.#driver.news()) this.#note(news);
    if (!this.#isDriven || this.#driver.runs) return;
    this.#isDriven = false;
    this.#loseAll();
  }

  #note(news: DriverNews): void {
    if (news.type === "waiting") return this.#tellWaiting(news);
    const host = this.#hosts[news.child];
    if (host?.process !== news.process) return;
    if (news.type === "started") {
      host.pid = news.pid;
      host.node = news.node;
    } else if (host.end === undefined) {
      const { code, signal, failure, prints } = news;
      host.end = { code, signal, failure, prints };
    }
  }

  #tellWaiting(
    { wanted, free, cpus }: Extract<DriverNews, { type: "waiting" }>,
  ): void {
    const rest = free < 1 ? "all in use" : `${Math.floor(free)} free`;
    const what = wanted === 1 ? "a CPU" : `${wanted} CPUs`;
    this.#onNotice(`Waiting for ${what}: the cluster has ${cpus}, ${rest}`);
  }

  /** Gives up all hosts, as Ray ends them with the driver. */
  #loseAll(): void {
    for (const [child, { end }] of this.#hosts.entries()) {
      if (end !== undefined) continue;
      this.#end(child, {
        failure: "it was lost with Ray's driver",
        prints: "",
      });
    }
  }
}
