/**
 * Checks the imports between and inside the packages: no cycle, no relative
 * import that leaves its package, no package that imports itself by name, and
 * dependencies in the one direction that ARCHITECTURE.md draws. What only tests
 * and tools import from npm is not in the lock of `train`.
 */
import { denoOutput } from "./deno_output.ts";
import { type Package, packages, ROOT, sourcesIn } from "./packages.ts";

/** Packages that each may import beside the types; one missing here, none. */
const ALLOWED: Record<string, readonly string[]> = {
  "@bellman/bandits": [
    "@bellman/files/options",
    "@bellman/random",
    "@bellman/statistics/bootstrap",
  ],
  "@bellman/buffers": ["@bellman/files"],
  "@bellman/compute": ["@bellman/files"],
  "@bellman/envs": ["@bellman/files", "@bellman/random"],
  "@bellman/statistics": ["@bellman/random"],
  "@bellman/training": [
    "@bellman/envs/checks",
    "@bellman/files",
    "@bellman/statistics",
  ],
  "@bellman/runs": [
    "@bellman/agent",
    "@bellman/buffers",
    "@bellman/client",
    "@bellman/compute",
    "@bellman/envs",
    "@bellman/files",
    "@bellman/policies",
    "@bellman/statistics",
    "@bellman/training",
  ],
  "@bellman/experiments": [
    "@bellman/agent",
    "@bellman/compute",
    "@bellman/envs",
    "@bellman/files",
    "@bellman/runs",
    "@bellman/statistics",
    "@bellman/training",
  ],
  "@bellman/search": [
    "@bellman/agent",
    "@bellman/compute",
    "@bellman/envs",
    "@bellman/experiments",
    "@bellman/files",
    "@bellman/runs",
    "@bellman/statistics",
    "@bellman/training",
  ],
  "@bellman/board": [
    "@bellman/files",
    "@bellman/runs",
    "@bellman/statistics",
  ],
  "@bellman/share": [
    "@bellman/compute",
    "@bellman/envs",
    "@bellman/files",
    "@bellman/runs",
    "@bellman/statistics",
    "@bellman/training",
  ],
  "@bellman/policies": ["@bellman/compute", "@bellman/files"],
  "@bellman/kfac": [
    "@bellman/compute",
    "@bellman/files",
    "@bellman/linear-algebra",
  ],
  "@bellman/agent": [
    "@bellman/buffers",
    "@bellman/compute",
    "@bellman/envs/checks",
    "@bellman/files",
    "@bellman/policies",
    "@bellman/returns",
  ],
  "@bellman/cli": [
    "@bellman/agent",
    "@bellman/board",
    "@bellman/envs",
    "@bellman/experiments",
    "@bellman/files",
    "@bellman/policies",
    "@bellman/runs",
    "@bellman/search",
    "@bellman/share",
    "@bellman/statistics",
    "@bellman/training",
  ],
};

/** Packages that every algorithm may import. */
const ALLOWED_TO_ALGORITHMS = [
  "@bellman/agent",
  "@bellman/buffers",
  "@bellman/compute",
  "@bellman/files",
  "@bellman/kfac",
  "@bellman/policies",
  "@bellman/returns",
  "@bellman/schedulers",
  "@bellman/training",
];

/** The package with the registry of algorithms, which may import them all. */
const REGISTRY = "@bellman/runs";

/** Erased at run time: every package may import it. */
const TYPES = "@bellman/types";

const ALGORITHMS = (await packages())
  .filter(({ isAlgorithm }) => isAlgorithm).map(({ name }) => name);

interface Module {
  specifier: string;
  dependencies?: {
    specifier: string;
    code?: { specifier?: string };
    type?: { specifier?: string };
  }[];
}

async function moduleGraph(entryPoint: string): Promise<Module[]> {
  return JSON.parse(await denoOutput(["info", "--json", entryPoint])).modules;
}

/** True where an algorithm has workers, which make environments of their own. */
function hasWorkers({ folder }: Package): boolean {
  const entries = [...Deno.readDirSync(`${ROOT}${folder}`)];
  return entries.some(({ name }) => name === "worker.ts");
}

function allowedTo(owner: Package): readonly string[] {
  const { name, isAlgorithm } = owner;
  const allowed = ALLOWED[name] ?? [];
  // One may build on another, as long as there is no cycle.
  if (isAlgorithm) {
    const environments = hasWorkers(owner) ? ["@bellman/envs"] : [];
    return [...environments, ...ALLOWED_TO_ALGORITHMS, ...ALGORITHMS];
  }
  return name === REGISTRY ? [...allowed, ...ALGORITHMS] : allowed;
}

function problemsOf(module: Module, owner: Package): string[] {
  const file = module.specifier.replace(`file://${ROOT}`, "");
  return (module.dependencies ?? []).flatMap(({ specifier, code, type }) => {
    const target = code?.specifier ?? type?.specifier ?? "";
    if (/\.(css|md|py|txt|yaml)$/.test(specifier)) {
      return [`${file}: JSR refuses the import of text '${specifier}'`];
    }
    if (specifier.startsWith(".")) {
      const inside = target.startsWith(`file://${ROOT}${owner.folder}/`);
      return inside ? [] : [`${file}: '${specifier}' leaves ${owner.name}`];
    }
    const name = specifier.match(/^@bellman\/[a-z0-9-]+/)?.[0];
    if (name === undefined) return [];
    if (name === owner.name) return [`${file}: ${name} imports itself by name`];
    const allowed = allowedTo(owner);
    // A package, or one entry of it alone.
    const isAllowed = allowed.includes(name) || allowed.includes(specifier);
    return name === TYPES || isAllowed
      ? []
      : [`${file}: ${owner.name} may not import ${name}`];
  });
}

/** The modules of one import cycle, or none. */
function findCycle(modules: readonly Module[]): string[] {
  const edges = new Map(modules.map((module) => [
    module.specifier,
    (module.dependencies ?? [])
      .map((it) => it.code?.specifier ?? it.type?.specifier ?? "")
      .filter((it) => it.startsWith("file:")),
  ]));
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): string[] => {
    const at = path.indexOf(node);
    if (at >= 0) return [...path.slice(at), node];
    if (done.has(node)) return [];
    path.push(node);
    for (const next of edges.get(node) ?? []) {
      const cycle = visit(next);
      if (cycle.length > 0) return cycle;
    }
    path.pop();
    done.add(node);
    return [];
  };
  for (const node of edges.keys()) {
    const cycle = visit(node);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

const problems = new Set<string>();
for (const member of await packages()) {
  for (const entryPoint of member.entryPoints) {
    const modules = await moduleGraph(entryPoint);
    const own = modules.filter((module) =>
      module.specifier.startsWith(`file://${ROOT}${member.folder}/`)
    );
    for (const module of own) {
      for (const it of problemsOf(module, member)) problems.add(it);
    }
    const cycle = findCycle(modules);
    if (cycle.length > 0) {
      problems.add(
        `cycle: ${cycle.join(" -> ").replaceAll(`file://${ROOT}`, "")}`,
      );
    }
  }
}
/** Names of the packages that specifiers of npm have, such as `npm:wabt@^1.0.39`. */
const npmNames = (text: string) =>
  [...text.matchAll(/npm:\/?((?:@[^/"]+\/)?[^@/"]+)/g)].map(([, name]) => name);

/** Says which packages of tests and tools have slipped into the lock of `train`. */
async function strangersInLock(): Promise<string[]> {
  const { imports } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const lock = JSON.parse(await Deno.readTextFile(`${ROOT}deno.lock`));
  const links = sourcesIn("tests/links")
    .map((path) => Deno.readTextFileSync(ROOT + path));
  const known = new Set(npmNames(JSON.stringify(imports) + links.join("")));
  const named = npmNames(Object.keys(lock.specifiers).join('"'));
  return named.filter((name) => !known.has(name)).map((name) =>
    `deno.lock has ${name}, which all users would fetch: restore it, and run what imports it with --lock=tests/deno.lock`
  );
}

for (const it of await strangersInLock()) problems.add(it);
for (const problem of problems) console.error(problem);
if (problems.size > 0) Deno.exit(1);
