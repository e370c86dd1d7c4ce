import { highlight } from "./highlight.ts";
import type { Page } from "./layout.ts";
import type { Read } from "./lists.ts";
import { type Agent, agentCard } from "./zoo.ts";

const FRONT = "index.html";

/** A moving picture besides those of the README and the zoo. */
export const PONG = "docs/pictures/pong.gif";

const COMMANDS = `npx -y deno@2.9 task train --env CartPole-v1 --out runs/first
npx -y deno@2.9 task play runs/first --gif first.gif
npx -y deno@2.9 task board   # all runs in a browser
`;

/** The front page: the README with actions, and with its picture beside others. */
export function frontPage(
  { rendered }: Read,
  agents: readonly Agent[],
  repository?: string,
): Page {
  // A title with a sentence, a picture, its caption, and the rest.
  const [first, picture, caption, ...rest] = rendered.html
    .split(/(?<=<\/p>\n)/);
  const pong = "ACKTR plays Pong, on the right, after 1,500,000 steps";
  const cards = [
    `<li>${picture.replaceAll(/<\/?p>/g, "")}${caption}</li>`,
    `<li><img src="${PONG}" alt="${pong}">\n<p>${pong}.</p></li>`,
    ...agents.filter(({ policy }) => policy !== undefined)
      .map((it) => agentCard(FRONT, it)),
  ];
  const clone = repository && `git clone ${repository} bellman && cd bellman\n`;
  return {
    address: FRONT,
    title: "Bellman: reinforcement learning for Deno",
    summary: rendered.summary,
    body: `<div class="hero">
${first}
<p class="actions">
<a class="button" href="playground/index.html">Train an agent in this browser</a>
<a class="button quiet" href="zoo/index.html">Trained agents</a>
<a class="button quiet" href="guides/index.html">Guides</a>
</p>
<pre><code>${highlight((clone ?? "") + COMMANDS, "sh")}</code></pre>
</div>
<ul class="cards">
${cards.join("\n")}
</ul>
${rest.join("")}`,
  };
}
