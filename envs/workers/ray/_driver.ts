import type { ChildEnd } from "../processes/_io_messages.ts";
import type { ChildCommand, ChildGroup } from "../processes/child_group.ts";
import texts from "./driver/texts.json" with { type: "json" };
import type { RayOptions } from "./ray_options.ts";
import { rayProgram, rayPython, whyNoRay } from "./ray_program.ts";

/** Version of the messages that both sides speak. */
const PROTOCOL = 1;

const TO_DRIVER = { start: 1, kill: 2, why: 3 } as const;
const FROM_DRIVER = ["hello", "started", "end", "waiting"] as const;

/** Time for Ray to answer, in milliseconds: the driver itself gives up sooner. */
const HELLO_MS = 120_000;
/** Time in which a cluster that could not be reached is not asked again. */
const PAUSE_MS = 2000;

/** A host that is to be started. */
export interface HostOrder extends ChildCommand {
  /** What the program has to say its version is. */
  readonly version?: string;
  readonly host: string;
  readonly port: number;
  readonly secret: string;
}

/** What the driver says of the cluster. */
export interface Cluster {
  readonly protocol: number;
  /** Versions of Ray and of its Python. */
  readonly ray: string;
  readonly python: string;
  /** Address that Ray knows this machine by. */
  readonly address: string;
  /** CPUs of all nodes. */
  readonly cpus: number;
  readonly nodes: number;
  /** True where nodes may be added. */
  readonly scales: boolean;
  /** True where the cluster asks for a token. */
  readonly secured: boolean;
}

/** Something that the driver says of the process of a host, or of the cluster. */
export type DriverNews =
  & { readonly child: number; readonly process: number }
  & (
    | { readonly type: "started"; readonly pid: number; readonly node: string }
    | ({ readonly type: "end" } & ChildEnd)
    | {
      readonly type: "waiting";
      readonly wanted: number;
      readonly free: number;
      readonly cpus: number;
    }
  );

function encode(kind: number, place: readonly number[], data: object) {
  const head = new Uint8Array(9), view = new DataView(head.buffer);
  view.setUint8(0, kind);
  view.setUint32(1, place[0], true);
  view.setUint32(5, place[1], true);
  return [head, new TextEncoder().encode(JSON.stringify(data))];
}

function decode(message: Uint8Array): DriverNews | { type: "hello" } & Cluster {
  const view = new DataView(message.buffer, message.byteOffset);
  const type = FROM_DRIVER[view.getUint8(0) - 1];
  const data = JSON.parse(new TextDecoder().decode(message.subarray(9)));
  const [child, process] = [view.getUint32(1, true), view.getUint32(5, true)];
  return { ...data, type, child, process };
}

/**
 * The Python program through which Ray places and ends hosts, a child of a group.
 * It gets orders and tells ends; the numbers of the hosts do not pass through it.
 */
export class RayDriver {
  readonly #group: ChildGroup;
  readonly #child: number;
  readonly #command: ChildCommand;
  readonly #python: string;
  #cluster: Cluster | undefined;
  #refusal: { error: Error; at: number } | undefined;

  /**
   * @param group Group of the driver.
   * @param child Number of the driver in the group.
   * @param options Cluster and Python.
   */
  constructor(group: ChildGroup, child: number, options: RayOptions) {
    this.#group = group;
    this.#child = child;
    this.#python = options.python ?? rayPython();
    this.#command = rayProgram(texts["driver.py"], options);
  }

  /** True while the driver runs. */
  get runs(): boolean {
    return this.#cluster !== undefined &&
      this.#group.end(this.#child) === undefined;
  }

  /**
   * Starts the driver, or a new one after its end, and waits until it has reached the
   * cluster.
   *
   * @throws {TypeError} If it cannot.
   */
  start(): Cluster {
    const refused = this.#refusal;
    if (refused && performance.now() - refused.at < PAUSE_MS) {
      throw refused.error;
    }
    this.#cluster = undefined;
    this.#group.start(this.#child, this.#command);
    this.#group.waitFor([this.#child], HELLO_MS);
    const [said] = this.#messages(1);
    const cluster = said && decode(said) as Cluster & { type: string };
    if (cluster?.type === "hello" && cluster.protocol === PROTOCOL) {
      return this.#cluster = cluster;
    }
    const error = new TypeError(this.#whyNot());
    this.#group.kill(this.#child);
    this.#refusal = { error, at: performance.now() };
    throw error;
  }

  /** Says why the driver could not begin: its own last line, where it has said so. */
  #whyNot(): string {
    const end = this.#group.end(this.#child) ?? { prints: "" };
    return whyNoRay(this.#python, end);
  }

  /** Takes what the driver has said, without waiting. */
  news(): DriverNews[] {
    return this.#messages(Infinity).map(decode) as DriverNews[];
  }

  #messages(most: number): Uint8Array[] {
    const group = this.#group, taken: Uint8Array[] = [];
    while (taken.length < most && group.has(this.#child)) {
      taken.push(group.receive(this.#child, 0));
    }
    return taken;
  }

  /** Has a host started in a process of a number of its own. */
  startHost(child: number, process: number, order: HostOrder): void {
    this.#tell("start", [child, process], order);
  }

  /** Gives a process up, and its node for a while. */
  killHost(child: number, process: number): void {
    this.#tell("kill", [child, process]);
  }

  /** Asks for the end of a process. */
  askWhy(child: number, process: number): void {
    this.#tell("why", [child, process]);
  }

  #tell(
    kind: keyof typeof TO_DRIVER,
    place: readonly [child: number, process: number],
    data: object = {},
  ): void {
    this.#group.send(this.#child, ...encode(TO_DRIVER[kind], place, data));
  }
}
