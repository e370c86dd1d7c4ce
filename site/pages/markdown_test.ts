import { assertEquals, assertStringIncludes } from "@std/assert";
import { render } from "./markdown.ts";

const same = (link: string) => link;

Deno.test("HTML is text, but for centred pictures, their captions and comments", () => {
  const { html } = render(
    `# A

<p align="center">
<img src="a.gif" width="320" alt="An agent">
</p>
<p align="center"><sub>
See <a href="b.md">this</a>.
</sub></p>

<!-- results -->

<script>alert(1)</script> and \`<b>\`

\`\`\`html
<p>code</p> <!-- kept -->
\`\`\`
`,
    same,
  );
  assertEquals(
    html,
    `<h1 id="a">A</h1>
<p><img src="a.gif" alt="An agent"></p>
<p>See <a href="b.md">this</a>.</p>
<p>&lt;script&gt;alert(1)&lt;/script&gt; and <code>&lt;b&gt;</code></p>
<pre><code class="language-html"><span class="hljs-tag">&lt;<span class="hljs-name">p</span>&gt;</span>code<span class="hljs-tag">&lt;/<span class="hljs-name">p</span>&gt;</span> <span class="hljs-comment">&lt;!-- kept --&gt;</span>
</code></pre>
`,
  );
});

Deno.test("links lead where they are resolved to, or become text", () => {
  const asked: string[][] = [];
  const { html } = render(
    "# A\n\n[page](b.md#c) [file](d.ts) ![picture](e%20f.png) [bad](javascript:x)",
    (link, kind) => {
      asked.push([link, kind]);
      return link === "d.ts" ? undefined : `to/${link}`;
    },
  );
  assertStringIncludes(
    html,
    '<a href="to/b.md#c">page</a> <span>file</span> <img src="to/e%20f.png" alt="picture"> [bad](javascript:x)',
  );
  assertEquals(asked, [
    ["b.md#c", "link"],
    ["d.ts", "link"],
    ["e%20f.png", "picture"],
  ]);
});

Deno.test("headings have GitHub's anchors and the text below them", () => {
  const { title, summary, sections, html } = render(
    "# The `a` title\n\nFirst *words*,\nmore.\n\n## Use it: now\n\n- one\n\n## Use it: now\n\n```ts\nlet x;\n```\n",
    same,
  );
  assertEquals(title, "The a title");
  assertEquals(summary, "First words, more.");
  assertEquals(
    sections.map(({ text, ...it }) => ({
      ...it,
      text: text.replaceAll(/\s+/g, " ").trim(),
    })),
    [
      { id: "", title: "The a title", level: 1, text: "First words, more." },
      { id: "use-it-now", title: "Use it: now", level: 2, text: "one" },
      { id: "use-it-now-1", title: "Use it: now", level: 2, text: "let x;" },
    ],
  );
  assertStringIncludes(html, '<h2 id="use-it-now-1">');
  assertStringIncludes(html, '<span class="hljs-keyword">let</span>');
});
