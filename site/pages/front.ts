import { highlight } from "./highlight.ts";
import type { Page } from "./layout.ts";
import type { Read } from "./lists.ts";
import { type Agent, agentCard } from "./zoo.ts";

const FRONT = "index.html";

/** Address of the program of the page. */
export const HOME = "home.js";

/** A moving picture besides those of the README and the zoo. */
export const PONG = "docs/pictures/pong.gif";

/** Ways to install, in the order that most people look for them. */
const INSTALLED: Readonly<Record<string, string>> = {
  "In Deno":
    "deno add jsr:@bellman/a2c jsr:@bellman/envs jsr:@bellman/training",
  "In Node":
    "npm i --ignore-scripts @bellman/a2c @bellman/training koffi onnxruntime-node",
  "In a clone, with nothing but Node": "npx -y deno@2.9 task train",
};

/** Writes the agent that learns; without scripts, or before them, a still picture. */
function live(): string {
  return `<figure id="live">
<div class="live-pictures">
<canvas id="live-picture" width="450" height="300" role="img" aria-label="A cart with a pole, moved by the agent that learns"></canvas>
<img class="on-white" src="playground/CartPole-v1.png" width="450" height="300" alt="A cart with a pole on it, which an agent learns to balance">
</div>
<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="The mean return of evaluations rises to 500, the most there is">
<line x1="0" x2="100" y1="10" y2="10"></line>
<polyline id="live-line" points=""></polyline>
</svg>
<figcaption>
<p><b id="live-return">CartPole-v1</b> <span id="live-step"></span></p>
<p id="live-state" role="status">An agent that balances a pole.</p>
<p class="buttons"><button type="button" id="live-pause" hidden>Pause</button>
<button type="button" id="live-again" hidden>Learn again</button></p>
</figcaption>
</figure>
<script type="module" src="${HOME}"></script>`;
}

function install(repository?: string): string {
  const clone = repository && `git clone ${repository} bellman && cd bellman\n`;
  const entries = Object.entries(INSTALLED).map(([where, line]) => {
    const code = line.startsWith("npx") ? (clone ?? "") + line : line;
    return `<dt>${where}</dt>
<dd><pre><code>${highlight(code, "sh")}</code></pre></dd>`;
  });
  return `<dl class="install">\n${entries.join("\n")}\n</dl>`;
}

/** Picks an agent of each algorithm, of those that the playground plays. */
function oneEach(agents: readonly Agent[]): Agent[] {
  const played = agents.filter(({ policy }) => policy !== undefined);
  const groups = Map.groupBy(played, ({ name }) => name.split(" ")[0]);
  return [...groups.values()].map(([first]) => first);
}

/** The front page: whom it is for, an agent that learns, and the README. */
export function frontPage(
  { rendered }: Read,
  agents: readonly Agent[],
  repository?: string,
): Page {
  // A title with a sentence, a picture, its caption, and the rest.
  const [first, picture, caption, ...rest] = rendered.html
    .split(/(?<=<\/p>\n)/);
  const sentence = first.replace(/<h1.*<\/h1>/, "");
  const pong = "ACKTR plays Pong, on the right, after 1,500,000 steps";
  const cards = [
    `<li>${picture.replaceAll(/<\/?p>/g, "")}${caption}</li>`,
    `<li><img src="${PONG}" alt="${pong}">\n<p>${pong}.</p></li>`,
    ...oneEach(agents).map((it) => agentCard(FRONT, it)),
  ];
  return {
    address: FRONT,
    title: "Bellman: agents that learn, in your TypeScript project",
    summary: rendered.summary,
    body: `<div class="hero">
<div>
<h1>Agents that learn, in your TypeScript project</h1>
<p class="lead">For games, simulations, controllers and pages: what your code can step, an agent can learn, in Deno, in Node and in browsers.</p>
<p class="actions"><a class="button" href="playground/index.html">Train one in this browser</a></p>
</div>
${live()}
<div>
${sentence.trim()}
<p class="actions">
<a class="button quiet" href="guides/index.html">Guides</a>
<a class="button quiet" href="zoo/index.html">Trained agents</a>
<a class="button quiet" href="packages.html">Packages</a>
</p>
${install(repository)}
</div>
</div>
<h2 id="trained">Trained agents</h2>
<ul class="cards">
${cards.join("\n")}
</ul>
<p><a href="zoo/index.html">All trained agents</a></p>
${rest.join("")}`,
  };
}
