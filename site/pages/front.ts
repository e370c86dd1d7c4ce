import { highlight } from "./highlight.ts";
import type { Page } from "./layout.ts";
import type { Read } from "./lists.ts";
import { escapeHtml, linkTo } from "./site.ts";
import { type Agent, agentCard, playedAt } from "./zoo.ts";

/** Address of the front page. */
export const FRONT = "index.html";

/** A moving picture besides those of the zoo. */
const PICTURE = {
  path: "pictures/pong.gif",
  text: "ACKTR plays Pong, on the right, after 1,500,000 steps",
};

/** Files that the front page shows. */
export const FRONT_FILES = [PICTURE.path];

/** Three commands, in a clone. */
function commands(repository?: string): string {
  const clone = `git clone ${repository} bellman && cd bellman\n`;
  const code = `${repository === undefined ? "" : clone}${
    `
npx -y deno@2.9 task train --env CartPole-v1 --out runs/cartpole
npx -y deno@2.9 task play runs/cartpole --gif cartpole.gif
npx -y deno@2.9 task board   # all runs in a browser
`.trimStart()
  }`;
  return `<pre><code>${highlight(code, "sh")}</code></pre>`;
}

/** The front page: the README, with actions, and its picture beside others. */
export function frontPage(
  { rendered }: Read,
  agents: readonly Agent[],
  repository?: string,
): Page {
  // A title with a sentence, a picture and its caption, then the rest.
  const [first, picture, caption, ...rest] = rendered.html
    .split(/(?<=<\/p>\n)/);
  const other = `<img src="${linkTo(FRONT, PICTURE.path)}" alt="${
    escapeHtml(PICTURE.text)
  }">\n<p>${PICTURE.text}.</p>`;
  const played = agents.filter((it) => playedAt(it) !== undefined);
  const cards = [
    `<li>${picture.replaceAll(/<\/?p>/g, "")}${caption}</li>`,
    `<li>${other}</li>`,
    ...played.map((it) => agentCard(FRONT, it)),
  ];
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
${commands(repository)}
</div>
<ul class="cards">
${cards.join("\n")}
</ul>
${rest.join("")}`,
  };
}
