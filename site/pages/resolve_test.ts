import { assertEquals, assertMatch } from "@std/assert";
import { commitOf } from "../../lab/runs/tasks/commit.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";
import { ROOT } from "../../tests/tools/packages.ts";
import { resolverOf, sourcesOf } from "./resolve.ts";

const document = (source: string, address: string) => ({
  ...{ source, address, text: "", head: undefined },
});
const GUIDE = document("docs/guides/search.md", "guides/search.html");
const DOCUMENTS = [
  GUIDE,
  document("README.md", "index.html"),
  document("envs/README.md", "envs/index.html"),
];

/** Resolves links of a guide; returns where they lead, and what becomes a part of the site. */
function resolved(
  links: readonly string[],
  kind: "link" | "picture" = "link",
): [(string | undefined)[], string[]] {
  const assets = new Set<string>();
  const sourceOf = (path: string) => `source:${path}`;
  const resolve = resolverOf(DOCUMENTS, sourceOf, assets)(GUIDE);
  return [links.map((it) => resolve(it, kind)), [...assets]];
}

Deno.test("links lead to pages, folders to their index", () => {
  const links = {
    "../../README.md": "../index.html",
    "../../envs": "../envs/index.html",
    "../../envs/#spaces": "../envs/index.html#spaces",
    "search.md#pruning": "search.html#pruning",
    "../../zoo": "../zoo/index.html",
    "#pruning": "#pruning",
    "https://deno.com/a%20b": "https://deno.com/a%20b",
  };
  assertEquals(resolved(Object.keys(links)), [Object.values(links), []]);
});

Deno.test("other files are shown by the repository, and pictures by the site", () => {
  assertEquals(
    resolved(["../../envs/mod.ts", "../../envs/toy", "../../deno.json"]),
    [
      ["source:envs/mod.ts", "source:envs/toy", "source:deno.json"],
      [],
    ],
  );
  assertEquals(resolved(["../pictures/pong.gif"], "picture"), [
    ["../docs/pictures/pong.gif"],
    ["docs/pictures/pong.gif"],
  ]);
});

Deno.test("what is not there, or outside of the checkout, is left to the check", () => {
  const links = ["none.md", "../../../etc/passwd", "../../../../../etc/passwd"];
  assertEquals(resolved(links, "picture"), [links, []]);
});

Deno.test("without a repository there are no links to sources", async () => {
  const sourceOf = await sourcesOf();
  assertEquals(sourceOf("deno.json"), undefined);
});

const gitTest = testsWith("a checkout of git", await commitOf(ROOT) !== "");

gitTest("a repository shows the present commit", async () => {
  const sourceOf = await sourcesOf("https://example.org/bellman/");
  assertMatch(
    sourceOf("deno.json", 3)!,
    /^https:\/\/example\.org\/bellman\/blob\/[\da-f]{40}\/deno\.json#L3$/,
  );
  assertMatch(sourceOf("envs")!, /\/tree\/[\da-f]{40}\/envs$/);
});
