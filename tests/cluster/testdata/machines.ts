/** A cluster of Ray in network namespaces of this machine, and what tests do to it. */
import { readVariable } from "@bellman/files/installed";

const SCRIPT = new URL("../cluster.sh", import.meta.url).pathname;

/** Beginning of the names of its machines. */
const NAME = "bellman-test";

/** Address of its head. */
export const HEAD = "10.77.0.1:6379";

/** The Python with Ray, if one is named. */
export const PYTHON: string = readVariable("BELLMAN_RAY_PYTHON") ?? "";

const env = { PATH: `${Deno.env.get("PATH")}:/usr/sbin:/sbin` };

/** True where such a cluster can be made. */
export const canCluster: boolean = PYTHON !== "" && mayMakeNetworks();

function mayMakeNetworks(): boolean {
  const probe = "bellman-probe-$$";
  const args = ["-c", `ip netns add ${probe} && ip netns del ${probe}`];
  const { success } = new Deno.Command("sh", { args, env }).outputSync();
  return success;
}

let programs: string | undefined;

/** Makes a folder with a program `deno`, for the nodes. */
function programFolder(): string {
  if (programs !== undefined) return programs;
  const folder = programs = Deno.makeTempDirSync({ prefix: "bellman-nodes-" });
  addEventListener(
    "unload",
    () => Deno.removeSync(folder, { recursive: true }),
  );
  Deno.symlinkSync(Deno.execPath(), `${folder}/deno`);
  return folder;
}

function command(args: string[], options: Deno.CommandOptions = {}) {
  return new Deno.Command("bash", {
    ...options,
    args: [SCRIPT, ...args],
    env: {
      ...options.env,
      RAY: PYTHON.replace(/[^/]*$/, "ray"),
      NODE_PATH_PREFIX: programFolder(),
      CLUSTER_NAME: NAME,
      NODE_CPUS: "2",
    },
  });
}

/** Runs `cluster.sh`. */
export function cluster(...args: string[]): string {
  const { success, stdout, stderr } = command(args).outputSync();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(new TextDecoder().decode(stderr).trim());
}

/** Starts a program on a node, which is its own machine. */
export function onNode(
  node: number,
  args: string[],
  options: Deno.CommandOptions = {},
): Deno.Command {
  return command(["in", String(node), ...args], options);
}

function lines(program: string, ...args: string[]): string[] {
  const { stdout } = new Deno.Command(program, { args, env }).outputSync();
  return new TextDecoder().decode(stdout).split("\n").filter(Boolean);
}

/** Ids of the processes of a node. */
export function processesOf(node: number): number[] {
  return lines("ip", "netns", "pids", `${NAME}-${node}`).map(Number);
}

/** Processes of a node whose program has a name. */
export function named(node: number, name: string): number[] {
  const all = new Set(lines("pgrep", "-x", name).map(Number));
  return processesOf(node).filter((pid) => all.has(pid));
}

/** Processes of a node whose command line has a text. */
export function running(node: number, text: string): number[] {
  const all = new Set(lines("pgrep", "-f", text).map(Number));
  return processesOf(node).filter((pid) => all.has(pid));
}

/** The process that started another one. */
export function parentOf(pid: number): number {
  return Number(lines("ps", "-o", "ppid=", "-p", String(pid))[0]);
}

/** The node that a process runs on. */
export function nodeOf(pid: number): number {
  const node = [0, 1, 2, 3].find((it) => processesOf(it).includes(pid));
  if (node === undefined) throw new RangeError(`no node of process ${pid}`);
  return node;
}

/** Sends a signal to processes; one that is no number would be all of the group. */
export function signal(
  pids: readonly (number | undefined)[],
  name: Deno.Signal = "SIGKILL",
): void {
  for (const pid of pids) {
    if (!(pid! > 1)) throw new RangeError(`no process: ${pid}`);
    Deno.kill(pid!, name);
  }
}

/** Processes of hosts, on all nodes, and of actors that have one. */
export function hostProcesses(): number[] {
  return [1, 2].flatMap((node) => [
    ...running(node, "_process_main.ts"),
    ...running(node, "ray::Host"),
  ]);
}

/** Processes of runs, on all nodes, whose arguments have a text. */
export function runProcesses(text = ""): number[] {
  return [1, 2, 3].flatMap((node) => running(node, `run_job\\.ts .*${text}`));
}
