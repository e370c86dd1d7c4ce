/** Node of several versions, for tests of what also runs there. */
import { dirname, join } from "node:path";
import { KOFFI_VERSION, LOCK } from "../tools/packages.ts";
import type { Ran } from "./run_deno.ts";
import { testsWith } from "./tests_with.ts";

/** Version and path of each Node that is supported, or none without npx. */
interface Node {
  readonly version: string;
  readonly path: string;
}

/** The versions that are supported. */
const VERSIONS = ["22", "24", "26"];

/** Runs a program in a folder. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: Omit<Deno.CommandOptions, "args"> = {},
): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    ...options,
  }).output();
  const [out, err] = [stdout, stderr].map((it) => new TextDecoder().decode(it));
  return { code, out, err };
}

/**
 * Finds a version, which npx fetches.
 *
 * @throws {Error} If it cannot, in one line.
 */
export async function findNode(version: string): Promise<Node> {
  const args = ["-y", `node@${version}`, "-p", "process.execPath"];
  const { code, out, err } = await runProgram("npx", args);
  if (code !== 0) throw new Error(err.trim().split("\n")[0]);
  return { version, path: out.trim() };
}

/** Finds the supported versions; none where npx cannot. */
async function findNodes(): Promise<readonly Node[]> {
  try {
    const nodes: Node[] = [];
    for (const it of VERSIONS) nodes.push(await findNode(it));
    return nodes;
  } catch (error) {
    // deno-lint-ignore no-console -- says why tests are ignored
    console.warn(`Tests in Node are left out: ${(error as Error).message}`);
    return [];
  }
}

/** The versions that tests run in. */
export const nodes: readonly Node[] = await findNodes();

/** Adds a test that needs Node. */
export const nodeTest: ReturnType<typeof testsWith> = testsWith(
  "Node",
  nodes.length > 0,
);

/** Installs koffi in a folder, and links Deno's copy of onnxruntime-node. */
export async function installOnnxRuntime(folder: string): Promise<void> {
  await npmInstall(folder, `koffi@${KOFFI_VERSION}`);
  await linkPackage(
    folder,
    "onnxruntime-node",
    "onnxruntime-node/package.json",
  );
}

/** Links Deno's copy of a package into a folder; what is imported lies at its top. */
export async function linkPackage(
  folder: string,
  name: string,
  specifier = name,
): Promise<void> {
  const found = import.meta.resolve(specifier);
  const target = join(folder, "node_modules", name);
  await Deno.mkdir(dirname(target), { recursive: true });
  await Deno.symlink(dirname(new URL(found).pathname), target);
}

/** Installs packages or archives of some in a folder, without their scripts. */
export async function npmInstall(
  folder: string,
  ...packages: string[]
): Promise<void> {
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
  const { code, err } = await runProgram(
    "npm",
    ["install", "--prefer-offline", ...flags, ...packages],
    { cwd: folder },
  );
  if (code !== 0) throw new Error(err);
}

/** Bundles a module and all that it imports into one file, by default for Node. */
export async function bundle(
  entry: URL,
  path: string,
  { platform = "deno" }: { platform?: "browser" | "deno" } = {},
): Promise<void> {
  const { code, err } = await runProgram(
    Deno.execPath(),
    ["bundle", LOCK, "-q", "--platform", platform, "-o", path, entry.pathname],
  );
  if (code !== 0) throw new Error(err);
}
