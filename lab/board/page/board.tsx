/// <reference lib="dom" />
/** Page of the board: fetches updates, and shows the view of the address. */
import { type JSX, render } from "preact";
import { useEffect, useReducer, useRef } from "preact/hooks";
import { decodeView, encodeView, HOME, type View } from "./address.ts";
import { Client } from "./client.ts";
import { COLORS, nameOf } from "./groups.ts";
import type { Board } from "./parts.tsx";
import { GroupPage, RunPage } from "./run.tsx";
import { RunsPage } from "./runs.tsx";

/** Milliseconds between updates of shown ages. */
const AGES_MS = 30_000;

/** Closes menus on Escape, and on a click elsewhere. */
function closeMenus(): void {
  const openMenus = () =>
    document.querySelectorAll<HTMLDetailsElement>("details.menu[open]");
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    for (const menu of openMenus()) {
      const hasFocus = menu.contains(document.activeElement);
      menu.open = false;
      if (hasFocus) menu.querySelector("summary")!.focus();
    }
  });
  document.addEventListener("click", ({ target }) => {
    for (const menu of openMenus()) {
      if (!menu.contains(target as Node)) menu.open = false;
    }
  });
}

/** Renders the whole page. */
function App(): JSX.Element {
  const [, refresh] = useReducer((count: number) => count + 1, 0);
  const client = useRef<Client>();
  const view = useRef(decodeView(location.hash));
  client.current ??= new Client(() => refresh(null));
  useEffect(() => {
    const read = () => {
      view.current = decodeView(location.hash);
      refresh(null);
    };
    globalThis.addEventListener("popstate", read);
    globalThis.addEventListener("hashchange", read);
    setInterval(() => refresh(null), AGES_MS);
  }, []);

  const board: Board = {
    client: client.current,
    view: view.current,
    go(changes: Partial<View>, step = "push") {
      view.current = { ...view.current, ...changes };
      const address = encodeView(view.current);
      if (address !== location.hash) {
        if (step === "push") history.pushState(null, "", address);
        else history.replaceState(null, "", address);
      }
      refresh(null);
    },
    link: (changes) => encodeView({ ...HOME, ...changes }),
  };
  const { page, id } = view.current;
  useEffect(() => scrollTo(0, 0), [page, id]);
  const folder = client.current.folders.get(id);
  const name = page === "runs" ? "Runs" : folder ? nameOf(folder) : "Gone";
  const title = `${name} · Bellman board`;
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <>
      <header>
        <strong>Bellman board</strong>
        <a href="#/runs" aria-current={page === "runs" ? "page" : undefined}>
          All runs
        </a>
      </header>
      <p role="status" class="connection">{client.current.problem}</p>
      <Page board={board} key={`${page} ${id}`} />
    </>
  );
}

function Page({ board }: { board: Board }): JSX.Element {
  const { view: { page, id }, client } = board;
  if (page === "runs") return <RunsPage board={board} />;
  const folder = client.folders.get(id);
  if (folder === undefined) {
    return (
      <h1>
        {client.isRead ? "It is not there (any more)" : "Reading the folders"}
      </h1>
    );
  }
  return page === "run"
    ? <RunPage board={board} run={folder} />
    : <GroupPage board={board} folder={folder} />;
}

/** Resolves colours to light or dark ones, so that charts can read them. */
function registerColors(): void {
  const colors = Array.from({ length: COLORS }, (_, i) => `--color${i}`);
  for (const name of ["--edge", "--soft", ...colors]) {
    const rest = { inherits: true, initialValue: "black" };
    CSS.registerProperty({ name, syntax: "<color>", ...rest });
  }
}

closeMenus();
registerColors();
render(<App />, document.getElementById("board")!);
