import { assertEquals } from "@std/assert";
import { pathToFileURL } from "node:url";
import { foreignCode } from "./project_code.ts";

const root = await Deno.realPath(await Deno.makeTempDir());
for (
  const path of [
    ...["project/envs", "project/runs/x/checkpoints", "project/sub"],
    ...["project/found/run", "project/found/envs", "elsewhere/run/sub"],
    ...["project/plans", "elsewhere/group/runs/a/b/seed-0"],
    ...["elsewhere/former/checkpoints", "elsewhere/shared"],
  ]
) Deno.mkdirSync(`${root}/${path}`, { recursive: true });
for (
  const path of [
    ...["project/deno.json", "project/own.ts", "project/envs/own.ts"],
    ...["project/runs/x/run.json", "project/runs/x/own.ts"],
    ...["project/found/run/run.json", "project/found/envs/own.ts"],
    ...["elsewhere/own.ts", "project/sub/own.ts", "project/plan.yaml"],
    ...["project/plans/own.ts", "project/plans/plan.yaml"],
    ...["elsewhere/run/own.ts", "elsewhere/run/sub/own.ts"],
    ...["plan.yaml", "results.csv", "own.ts"].map((it) =>
      `elsewhere/group/${it}`
    ),
    "elsewhere/former/checkpoints/best.safetensors",
    ...["elsewhere/former/own.ts", "elsewhere/shared/agent.safetensors"],
    "elsewhere/shared/own.ts",
  ]
) Deno.writeTextFileSync(`${root}/${path}`, "");
Deno.symlinkSync(`${root}/elsewhere/own.ts`, `${root}/project/envs/link.ts`);
Deno.symlinkSync(`${root}/project/envs`, `${root}/elsewhere/envs`);

/** Returns the modules of a run that are not the project's, by their paths. */
function foreign(modules: string[], owner?: string, at = "project"): string[] {
  const before = Deno.cwd();
  Deno.chdir(`${root}/${at}`);
  try {
    const urls = modules.map((it) => pathToFileURL(`${root}/${it}`).href);
    const code = { modules: urls, options: [], files: [], programs: [] };
    return foreignCode(code, owner && `${root}/${owner}`).modules
      .map((it) => decodeURI(it.slice(`file://${root}/`.length)));
  } finally {
    Deno.chdir(before);
  }
}

Deno.test("code of the project is taken for a run of another folder", () => {
  const own = ["project/own.ts", "project/envs/own.ts"];
  for (const owner of [undefined, "project/runs/x", "elsewhere/run"]) {
    assertEquals(foreign(own, owner), []);
    assertEquals(foreign(own, owner, "project/sub"), []);
  }
  // By its real path.
  assertEquals(foreign(["elsewhere/envs/own.ts"], "project/runs/x"), []);
  // Beside a plan in the project's own folder, or in another one than the plan's.
  assertEquals(foreign(own, "project/plan.yaml"), []);
  assertEquals(foreign(["project/plans/own.ts"], "project/plan.yaml"), []);
  // Without a `deno.json`, the current folder is the project.
  assertEquals(
    foreign(["elsewhere/own.ts"], "project/runs/x", "elsewhere"),
    [],
  );
});

Deno.test("code from elsewhere, of runs, and beside the run that names it is not", () => {
  const cases: [module: string, owner?: string, at?: string][] = [
    ["elsewhere/own.ts"],
    ["elsewhere/own.ts", "project/runs/x"],
    ["project/envs/link.ts", "project/runs/x"],
    ["project/runs/x/own.ts"],
    ["project/runs/x/own.ts", "elsewhere/run"],
    ["project/found/envs/own.ts", "project/found/run"],
    ["project/found/envs/own.ts", "project/found/run", "project/found"],
    ["project/missing/../../elsewhere/own.ts", "project/runs/x"],
    ["project/plans/own.ts", "project/plans/plan.yaml"],
    // Wherever runs, or what holds them, lie; the current folder among them.
    ["elsewhere/run/own.ts", "elsewhere/run", "elsewhere/run"],
    ["elsewhere/run/sub/own.ts", "elsewhere/run", "elsewhere/run/sub"],
    ["elsewhere/group/own.ts", "elsewhere/group/runs/a/b/seed-0", "elsewhere"],
    [
      ...["elsewhere/group/own.ts", "elsewhere/group/runs/a/b/seed-0"],
      "elsewhere/group",
    ] as [string, string, string],
    ["elsewhere/former/own.ts", "project/runs/x", "elsewhere"],
    ["elsewhere/former/own.ts", "project/runs/x", "elsewhere/former"],
    ["elsewhere/shared/own.ts", "project/runs/x", "elsewhere"],
  ];
  for (const [module, owner, at] of cases) {
    assertEquals(foreign([module], owner, at).length, 1, module);
  }
});

Deno.test("packages, modules of Python and files need the word", () => {
  const code = {
    modules: ["npm:some@1", "jsr:@some/thing", "some.module"],
    options: ["render"],
    files: ["model.xml"],
    programs: ["node game.js"],
  };
  assertEquals(foreignCode(code, undefined), code);
});
