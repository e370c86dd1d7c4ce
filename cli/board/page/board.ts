/// <reference lib="dom" />
/** The page of `deno task board`: connects, and shows what the address says. */
import { decodeView, encodeView, HOME, type View } from "./data/address.ts";
import { make, setAttributes, setText } from "./dom.ts";
import { ExperimentScreen } from "./experiment_screen.ts";
import { type Feed, openFeed } from "./feed.ts";
import { type Connection, type HubMessage, wishKey } from "./data/hub.ts";
import { Index, Points } from "./data/model.ts";
import { RunScreen } from "./run_screen.ts";
import { RunsScreen } from "./runs_screen.ts";
import type { Board, Screen } from "./screen.ts";
import { SearchScreen } from "./search_screen.ts";

const CONNECTIONS: Readonly<Record<Connection, string>> = {
  live: "",
  lost: "No connection to the board: trying again",
  refused:
    "The board does not know this browser: open the address that the command printed",
};

/** Closes menus by Escape, and by a click elsewhere. */
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

/** The page. */
class Page implements Board {
  readonly index = new Index();
  readonly points = new Points();
  view: View = decodeView(location.hash);
  isRead = false;
  readonly #place = make("div");
  readonly #connection = make("p", { role: "status", class: "connection" });
  readonly #home = make("a", { href: "#/runs" }, "All runs");
  readonly #feed: Feed;
  #screen: Screen | undefined;
  #screenName = "";
  #isWanted = false;
  #keysBefore: readonly string[] = [];
  #keys: readonly string[] = [];

  /** Shows the page in an element. */
  constructor(element: HTMLElement) {
    element.append(
      make("header", {}, make("strong", {}, "Bellman board"), this.#home),
      this.#connection,
      this.#place,
    );
    globalThis.addEventListener("popstate", () => this.#readAddress());
    globalThis.addEventListener("hashchange", () => this.#readAddress());
    matchMedia("(prefers-color-scheme: dark)").addEventListener(
      "change",
      () => this.#screen?.recolor(),
    );
    // Ages grow without any message.
    setInterval(() => this.refresh(), 30_000);
    this.#feed = openFeed((message) => this.#hear(message));
    this.refresh();
  }

  go(changes: Partial<View>, step: "push" | "replace" = "push"): void {
    Object.assign(this.view, changes);
    const address = encodeView(this.view);
    if (address !== location.hash) {
      if (step === "push") history.pushState(null, "", address);
      else history.replaceState(null, "", address);
    }
    this.refresh();
  }

  link(changes: Partial<View>): string {
    return encodeView({ ...HOME, ...changes });
  }

  refresh(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    requestAnimationFrame(() => {
      this.#isWanted = false;
      this.#show();
    });
  }

  #readAddress(): void {
    this.view = decodeView(location.hash);
    this.refresh();
  }

  #hear(message: HubMessage): void {
    switch (message.type) {
      case "index":
        this.index.apply(message.update);
        this.points.drop(message.update.gone);
        this.isRead = true;
        break;
      case "curves":
        this.points.apply(message.key, message.update);
        break;
      case "connection":
        setText(this.#connection, CONNECTIONS[message.connection]);
    }
    this.refresh();
  }

  #show(): void {
    const { page, id } = this.view;
    if (this.#screenName !== `${page}/${id}`) {
      this.#screen?.end();
      this.#screenName = `${page}/${id}`;
      this.#screen = this.#make();
      this.#place.replaceChildren(this.#screen.element);
      scrollTo(0, 0);
    }
    setAttributes(this.#home, {
      "aria-current": page === "runs" ? "page" : undefined,
    });
    const wishes = this.#screen!.show();
    const title = `${this.#screen!.title} · Bellman board`;
    if (document.title !== title) document.title = title;
    const keys = wishes.map(wishKey);
    if (keys.join() !== this.#keys.join()) {
      this.#keysBefore = this.#keys;
      this.#keys = keys;
      this.points.keep(new Set([...keys, ...this.#keysBefore]));
    }
    this.#feed.want(wishes);
  }

  #make(): Screen {
    const { page, id } = this.view;
    switch (page) {
      case "run":
        return new RunScreen(this, id);
      case "experiment":
        return new ExperimentScreen(this, id);
      case "search":
        return new SearchScreen(this, id);
      case "runs":
        return new RunsScreen(this);
    }
  }
}

closeMenus();
new Page(document.getElementById("board")!);
