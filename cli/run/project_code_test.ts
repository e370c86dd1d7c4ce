import { assertEquals } from "@std/assert";
import { pathToFileURL } from "node:url";
import { foreignCode } from "./project_code.ts";

const root = await Deno.realPath(await Deno.makeTempDir());
for (
  const path of [
    ...["project/envs", "project/runs/x/checkpoints", "project/sub"],
    ...["project/found/run", "project/found/envs", "elsewhere"],
  ]
) Deno.mkdirSync(`${root}/${path}`, { recursive: true });
for (
  const path of [
    ...["project/deno.json", "project/own.ts", "project/envs/own.ts"],
    ...["project/runs/x/run.json", "project/runs/x/own.ts"],
    ...["project/found/run/run.json", "project/found/envs/own.ts"],
    ...["elsewhere/own.ts", "project/sub/own.ts"],
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
    const code = { modules: urls, options: [], files: [] };
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
  };
  assertEquals(foreignCode(code, undefined), code);
});
