/**
 * A driver without Ray, which hosts processes here and follows a script: what
 * `RayCluster` has for an address. It is started in the place of Python.
 */
import { existsSync } from "node:fs";
import { frameOf, FrameReader } from "../../processes/frames.ts";

/** What the driver does. */
export interface Script {
  /** Last line instead of a beginning. */
  refusal?: string;
  /** True where it begins the first time alone: the file says whether that was so. */
  once?: string;
  /** Folder of the code on the nodes, which is the one here by default. */
  copy?: string;
  /** Time after which it dies, in milliseconds. */
  diesAfterMs?: number;
  /** Path with whose appearance it dies. */
  diesWith?: string;
  /** More or other than usual of its first message. */
  hello?: object;
  /** Tells that hosts wait for CPUs. */
  waiting?: object;
  /** File that gets a line for each order. */
  log?: string;
  /** Ends of hosts before they start. */
  failure?: string;
  /** Program that hosts are in the place of Deno. */
  program?: string;
  /** True where it does not say how a process ended. */
  isMute?: boolean;
  /** True where hosts say another secret. */
  isStranger?: boolean;
  /**
   * True where hosts get their connections as input and output, as from Ray's actors;
   * otherwise this driver passes on what they say, and none is left without it.
   */
  isDirect?: boolean;
}

interface Order {
  program: string;
  args: string[];
  env: Record<string, string>;
  host: string;
  port: number;
  secret: string;
  version?: string;
}

const [cluster, settings] = Deno.args.slice(-2);
const script = JSON.parse(cluster) as Script;
const { folder } = JSON.parse(settings) as { folder: string };
const code = script.copy ?? folder;
const text = new TextEncoder();

function tell(
  kind: number,
  child: number,
  process: number,
  data: object,
): void {
  const head = new Uint8Array(9), view = new DataView(head.buffer);
  view.setUint8(0, kind);
  view.setUint32(1, child, true);
  view.setUint32(5, process, true);
  const frame = frameOf(head, text.encode(JSON.stringify(data)));
  for (let at = 0; at < frame.length;) {
    at += Deno.stdout.writeSync(frame.subarray(at));
  }
}

function refuse(line: string): never {
  Deno.stderr.writeSync(text.encode(`something of Ray's own\n${line}\n`));
  Deno.exit(2);
}

/** Processes by their numbers, and their ends. */
const hosts = new Map<number, Deno.ChildProcess>();
const ends = new Map<number, Promise<object>>();

/** Runs a program whose input and output are a connection, which first says a secret. */
const CONNECTED = `exec 3<>"/dev/tcp/$0/$1" && printf %s "$2" >&3 || exit
shift 2
exec "$@" <&3 >&3 3>&-`;

async function start(child: number, process: number, order: Order) {
  if (script.failure !== undefined) {
    return tell(3, child, process, { failure: script.failure, prints: "" });
  }
  const { host: hostname, port, secret } = order;
  const said = script.isStranger ? "0".repeat(32) : secret;
  const fill = (it: string) =>
    it.replace("{parent}", String(Deno.pid)).replace("{code}", code);
  const program = script.program ?? Deno.execPath();
  const words = [program, ...order.args.map(fill)];
  const options = { env: order.env, stderr: "piped" } as const;
  let host: Deno.ChildProcess, outward: Promise<void> | undefined;
  if (script.isDirect) {
    const connected = ["-c", CONNECTED, hostname, String(port), said];
    host = new Deno.Command("bash", {
      ...options,
      args: [...connected, ...words],
    }).spawn();
  } else {
    const connection = await Deno.connect({ hostname, port });
    await connection.write(text.encode(said));
    const relayed = new Deno.Command(program, {
      ...options,
      args: words.slice(1),
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    outward = relayed.stdout.pipeTo(connection.writable).catch(() => {});
    connection.readable.pipeTo(relayed.stdin).catch(() => {});
    host = relayed;
  }
  hosts.set(process, host);
  const prints = new Response(host.stderr).text();
  ends.set(
    process,
    host.status.then(async ({ code, signal }) => {
      await outward;
      const end = signal === null ? { code } : { signal };
      return { ...end, prints: await prints };
    }),
  );
  tell(2, child, process, { pid: host.pid, node: "127.0.0.1" });
}

function kill(process: number): void {
  try {
    hosts.get(process)?.kill("SIGKILL");
  } catch {
    // It has ended.
  }
}

async function carryOut(message: Uint8Array): Promise<void> {
  const view = new DataView(message.buffer, message.byteOffset);
  const kind = view.getUint8(0);
  const [child, process] = [view.getUint32(1, true), view.getUint32(5, true)];
  const data = JSON.parse(new TextDecoder().decode(message.subarray(9)));
  if (script.log !== undefined) {
    const line = JSON.stringify({ kind, child, process, ...data });
    Deno.writeTextFileSync(script.log, `${line}\n`, { append: true });
  }
  if (kind === 1) return await start(child, process, data);
  if (kind === 2) return kill(process);
  const end = await ends.get(process) ?? { failure: "it ended", prints: "" };
  if (!script.isMute) tell(3, child, process, end);
}

if (script.refusal !== undefined) refuse(script.refusal);
if (script.once !== undefined) {
  try {
    Deno.writeTextFileSync(script.once, "", { createNew: true });
  } catch {
    refuse("Cannot reach the Ray cluster at there: nothing listens");
  }
}
tell(1, 0, 0, {
  protocol: 1,
  ray: "2.60.0",
  python: "3.12.0",
  address: "127.0.0.1",
  cpus: 4,
  nodes: 2,
  scales: false,
  secured: true,
  ...script.hello,
});
if (script.diesAfterMs !== undefined) {
  setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), script.diesAfterMs);
}
const { diesWith } = script;
if (diesWith !== undefined) {
  setInterval(() => {
    if (existsSync(diesWith)) Deno.kill(Deno.pid, "SIGKILL");
  }, 50);
}
if (script.waiting) tell(4, 0, 0, script.waiting);
const frames = new FrameReader({
  message: (bytes) => void carryOut(bytes.slice()),
  stray: () => {},
});
for await (const piece of Deno.stdin.readable) frames.read(piece);
for (const process of hosts.keys()) kill(process);
Deno.exit();
