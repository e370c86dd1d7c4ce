import { assertEquals, assertStringIncludes } from "@std/assert";
import { render } from "./markdown.ts";
import { agentCard, agentsOf, playLink, zooPage } from "./zoo.ts";

/** A card, as a stranger may write it. */
function card(source: string, head: unknown) {
  const text = "# A\n\nAn agent.";
  const rendered = render(text, (link) => link);
  const address = source.replace("README.md", "index.html");
  return { source, address, text, head, rendered };
}

const CARD = card("zoo/a2c/gym:<b>-v1/README.md", {
  "model-index": [{
    name: "A",
    results: [{ metrics: [{ type: "mean_reward", value: "<i> +/- 0.00" }] }],
  }],
});

Deno.test("agents are the cards of the zoo, and their heads are data", () => {
  const others = ["zoo/README.md", "docs/guides/search.md"]
    .map((it) => card(it, undefined));
  const odd = [null, 3, "text", { "model-index": "x" }]
    .map((head, i) => card(`zoo/a2c/Env-v${i}/README.md`, head));
  const agents = agentsOf([...others, CARD, ...odd]);
  assertEquals(agents.map(({ name, score }) => [name, score]), [
    ["a2c on gym:<b>-v1", "<i> ± 0.00"],
    ...odd.map((_, i) => [`a2c on Env-v${i}`, undefined]),
  ]);
});

Deno.test("a card's texts stay text, and its links have no scheme", () => {
  const [agent] = agentsOf([CARD]);
  assertEquals(
    agentCard("zoo/index.html", agent),
    `<li><p><a href="a2c/gym%3A%3Cb%3E-v1/index.html">a2c on gym:&lt;b&gt;-v1</a><br>return &lt;i&gt; ± 0.00</p>\n</li>`,
  );
});

Deno.test("an agent's link opens the playground with its policy", () => {
  const [agent] = agentsOf([CARD]);
  const policy = "zoo/a2c/gym:b/policy.onnx";
  assertEquals(
    playLink("zoo/a2c/b/index.html", { ...agent, policy }),
    '<a class="button" href="../../../playground/index.html?policy=..%2Fzoo%2Fa2c%2Fgym%253Ab%2Fpolicy.onnx">Play it here</a> <small>loads 14 MB</small>',
  );
  assertEquals(playLink("zoo/a2c/b/index.html", agent), "");
});

Deno.test("an empty zoo says so, and a README comes first", () => {
  assertStringIncludes(zooPage([]).body, "There are none yet.");
  const readme = card("zoo/README.md", undefined);
  assertStringIncludes(zooPage([], readme).body, '<h1 id="a">A</h1>');
});
