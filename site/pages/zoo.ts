import { PLAYED } from "../playground/protocol.ts";
import { isThere } from "./documents.ts";
import type { Page } from "./layout.ts";
import { anchor, type Read } from "./lists.ts";
import { escapeHtml, linkTo } from "./site.ts";

/** An agent of the zoo, as its card says. */
export interface Agent {
  document: Read;
  algorithm: string;
  env: string;
  /** Folder of its files: `zoo/sac/Pendulum-v1`. */
  folder: string;
  /** Return as the card writes it; empty where it writes none. */
  score: string;
}

/** Finds the value of a metric in a card's head, which nobody has checked. */
function scoreOf(head: unknown): string {
  if (typeof head !== "object" || head === null) return "";
  for (const [key, value] of Object.entries(head)) {
    if (key === "value" && /^(string|number)$/.test(typeof value)) {
      return String(value).replace("+/-", "±");
    }
    const found = scoreOf(value);
    if (found !== "") return found;
  }
  return "";
}

/** Lists the agents among the documents. */
export function agentsOf(documents: readonly Read[]): Agent[] {
  return documents.flatMap((document) => {
    const [, folder, algorithm, env] =
      /^(zoo\/([^/]+)\/([^/]+))\/README\.md$/.exec(document.source) ?? [];
    if (folder === undefined) return [];
    const { "model-index": index } = Object(document.head);
    return [{ document, algorithm, env, folder, score: scoreOf(index) }];
  });
}

/** Address of the playground with an agent's policy; none where pages lack its environment. */
export function playedAt({ folder, env }: Agent): string | undefined {
  if (!(PLAYED as readonly string[]).includes(env)) return undefined;
  return isThere(`${folder}/policy.onnx`) ? `${folder}/policy.onnx` : undefined;
}

/** Writes the link that opens the playground with an agent; nothing where it cannot. */
export function playLink(from: string, agent: Agent): string {
  const policy = playedAt(agent), playground = "playground/index.html";
  if (policy === undefined) return "";
  const query = encodeURIComponent(linkTo(playground, policy));
  const link = `${linkTo(from, playground)}?policy=${query}`;
  return `<a class="button" href="${link}">Play it here</a>`;
}

/** Writes an agent as a picture with its name, return and links. */
export function agentCard(from: string, agent: Agent): string {
  const { document, algorithm, env, folder, score } = agent;
  const name = `${algorithm} on ${env}`, picture = `${folder}/play.gif`;
  const image = isThere(picture)
    ? `<img src="${linkTo(from, picture)}" alt="An episode of ${
      escapeHtml(name)
    }" loading="lazy">`
    : "";
  return `<li>${image}
<p>${anchor(from, document.address, name)}${
    score === "" ? "" : `<br>return ${escapeHtml(score)}`
  }</p>
${playLink(from, agent)}</li>`;
}

/** The list of agents. */
export function zooPage(
  agents: readonly Agent[],
  introduction =
    "<h1>Zoo</h1>\n<p>Trained agents, to be played, evaluated and trained further.</p>",
): Page {
  const address = "zoo/index.html";
  const cards = agents.map((it) => agentCard(address, it));
  return {
    address,
    title: "Zoo",
    summary: "Trained agents: cards, moving pictures, and play in the page.",
    body: `${introduction}
${
      cards.length > 0
        ? `<ul class="cards">\n${cards.join("\n")}\n</ul>`
        : "<p>There are none yet.</p>"
    }`,
  };
}
