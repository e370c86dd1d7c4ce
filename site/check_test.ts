import { assertEquals } from "@std/assert";
import { checkSite } from "./check.ts";
import type { Site } from "./pages/site.ts";

const page = (body: string, head = "<title>A</title>") =>
  `<!DOCTYPE html><html lang="en"><head>${head}</head><body>${body}</body></html>`;

/** Checks a page beside one with an anchor; returns what is said of it. */
function said(html: string, { found = "b/c.html" } = {}): string[] {
  const site: Site = new Map<string, string | Uint8Array<ArrayBuffer>>([
    ["b/a.html", html],
    ["b/c.html", page('<h1 id="top">C</h1>')],
    ["gym:agent/policy.onnx", new Uint8Array(3)],
    [
      "search.json",
      JSON.stringify({ storedFields: { 0: { address: found } } }),
    ],
  ]);
  const built = { site, leftOut: new Set(["api/a2c/A2C.html"]) };
  const options = { base: "/bellman/", words: ["/machine/"] };
  return checkSite(built, options).complaints;
}

Deno.test("a page without faults gets no complaint", () => {
  const links = [
    ...["c.html", "c.html#top", "#own", "data:,", "../api/a2c/A2C.html#any"],
    ...["https://deno.com", "../gym%3Aagent/policy.onnx"],
    "c.html?policy=..%2Fgym%253Aagent%2Fpolicy.onnx",
  ].map((it) => `<a href="${it}">x</a>`);
  const body = `<h1 id="own">A</h1>${links.join("")}<img src="c.html" alt="C">`;
  assertEquals(said(page(body)), []);
});

const FAULTS: Record<string, [html: string, line: string]> = {
  "a link to no page": [
    page('<h1>A</h1><a href="d.html">x</a>'),
    "'d.html' leads nowhere",
  ],
  "a link to no anchor": [
    page('<h1>A</h1><a href="c.html#none">x</a>'),
    "'c.html#none' has no such anchor",
  ],
  "a link to no policy": [
    page('<h1>A</h1><a href="c.html?policy=x.onnx">x</a>'),
    "'c.html?policy=x.onnx' leads nowhere",
  ],
  "a path of the server": [
    page('<h1>A</h1><a href="/c.html">x</a>'),
    "'/c.html' leaves the site",
  ],
  "a file of the machine": [
    page('<h1>A</h1><a href="file:&#x2F;&#x2F;&#x2F;c.ts">x</a>'),
    "'file:///c.ts' leaves the site",
  ],
  "a program in a link": [
    page('<h1>A</h1><a href="javascript:x">x</a>'),
    "'javascript:x' leaves the site",
  ],
  "two titles": [page("<h1>A</h1><h1>B</h1>"), "it has 2 h1, expected 1"],
  "no title": [page("<h1>A</h1>", "<title></title>"), "it has no title"],
  "no language": [
    page("<h1>A</h1>").replace(' lang="en"', ""),
    "it has no language",
  ],
  "a picture without a text": [
    page('<h1>A</h1><img src="c.html" alt="">'),
    '<img src="c.html" alt=""> has no text',
  ],
  "an anchor twice": [
    page('<h1 id="a">A</h1><p id="a">'),
    "the anchor 'a' is there twice",
  ],
  "a style within": [
    page('<h1 style="color: red">A</h1>'),
    '<h1 style="color: red" is style or program',
  ],
  "a program within": [
    page("<h1>A</h1><script>x</script>"),
    "<script> is style or program",
  ],
  "a word that may stand nowhere": [
    page("<h1>A</h1>/machine/x"),
    "it has /machine/",
  ],
};

for (const [name, [html, line]] of Object.entries(FAULTS)) {
  Deno.test(`${name} is found`, () => {
    assertEquals(said(html), [`b/a.html: ${line}`]);
  });
}

Deno.test("what the search finds must be there", () => {
  const line = "search.json: 'b/d.html' leads nowhere";
  assertEquals(said(page("<h1>A</h1>"), { found: "b/d.html" }), [line]);
});
