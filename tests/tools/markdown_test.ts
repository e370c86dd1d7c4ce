import { assert, assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path";
import { ROOT } from "./packages.ts";

/** Folders without texts of this project. */
const LEFT_OUT = /^(\..*|coverage|node_modules|runs)$/;

/** Markdown files of a folder and those below. */
function* markdownIn(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = join(folder, name);
    if (isDirectory && !LEFT_OUT.test(name)) yield* markdownIn(path);
    else if (name.endsWith(".md")) yield path;
  }
}

/** Text without fences, whose brackets are code's. */
function proseOf(path: string): string {
  return Deno.readTextFileSync(path).replaceAll(/^( *)```.*?^\1```/gms, "");
}

/** Anchors of a file's headings, as GitHub makes them. */
function anchorsOf(path: string): string[] {
  return [...proseOf(path).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(
      " ",
      "-",
    )
  );
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path) !== undefined;
  } catch {
    return false;
  }
}

/** True where a link of a file leads to a file, a folder or one of its headings. */
function leads(from: string, link: string): boolean {
  const [file, anchor] = link.split("#");
  const path = file === "" ? from : join(dirname(from), file);
  if (!exists(path)) return false;
  return anchor === undefined || anchorsOf(path).includes(anchor);
}

Deno.test("every link between files leads somewhere", () => {
  const broken = [...markdownIn(ROOT)].flatMap((path) =>
    [...proseOf(path).matchAll(/(?:\]\(|\b(?:src|href)=")([^)"\s]+)/g)]
      .map(([, link]) => link)
      .filter((link) => !/^\w+:/.test(link) && !leads(path, link))
      .map((link) => `${relative(ROOT, path)}: ${link}`)
  );
  assertEquals(broken, []);
});

Deno.test("every path on the page of the architecture is there", () => {
  const words = [...proseOf(`${ROOT}ARCHITECTURE.md`).matchAll(/`([\w./]+)`/g)];
  const paths = words.map(([, word]) => word)
    .filter((it) => it.includes("/") && !it.includes("NAME"));
  assert(paths.length > 40);
  assertEquals(paths.filter((it) => !exists(ROOT + it)), []);
});

Deno.test("the front page is short, and fits a narrow window", () => {
  const text = Deno.readTextFileSync(`${ROOT}README.md`);
  const lines = text.trimEnd().split("\n");
  const tooWide = lines.filter((it) => it.startsWith("|") && it.length > 100);
  assertEquals(lines.slice(150), []);
  assertEquals(text.slice(12_000), "");
  assertEquals(tooWide, []);
});

Deno.test("the checks of a change run the front page's two commands", () => {
  const run = Deno.readTextFileSync(`${ROOT}.ci/run`);
  const [fence] = Deno.readTextFileSync(`${ROOT}README.md`)
    .match(/^```sh\n.*?^```/ms)!;
  const commands = [...fence.matchAll(/^npx \S+ \S+ task \w+/gm)]
    .map(([command]) => command);
  assertEquals(commands.length, 2);
  for (const it of commands) assert(run.includes(`in_copy ${it}`), it);
});
