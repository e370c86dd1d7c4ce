/**
 * Draws a game into a page, which a person plays there against a trained agent.
 *
 * @example
 * ```ts
 * import type { PlayInPageOptions } from "@bellman/client/page";
 * import { TicTacToe } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * // In a page: playInPage(document.querySelector("main"), await game())
 * async function game(): Promise<PlayInPageOptions> {
 *   const file = await (await fetch("policy.onnx")).arrayBuffer();
 *   return { world: new TicTacToe(), policy: new Uint8Array(file) };
 * }
 * assertEquals(new TicTacToe().actionGrid, [3, 3]);
 * assertEquals(game.length, 0);
 * ```
 *
 * @module
 */
import type { World } from "@bellman/types";
import texts from "./texts.json" with { type: "json" };
import { actionsOf, Match, type Thought } from "./match.ts";

/** World that may tell where a person clicks. */
export interface PageWorld extends World {
  /**
   * Rows and columns of fields that lie over the picture, one for each action in its
   * order: `[1, 7]` are seven columns, `[3, 3]` nine cells.
   *
   * @default none: a row of buttons below the picture
   */
  readonly actionGrid?: readonly [rows: number, columns: number];
  /**
   * Draws a world in a few lines of text, for those who hear the page.
   *
   * @default they hear of the moves alone
   */
  text?(env: number): string;
}

/** Options of {@linkcode playInPage}. */
export interface PlayInPageOptions {
  /** One world of a game whose actions are discrete. */
  readonly world: PageWorld;
  /**
   * Bytes of the agent's file. Those written with `probabilities: true` show how likely
   * each move is.
   */
  readonly policy: Uint8Array;
  /**
   * Name of the person's seat in the first game.
   *
   * @default the first one
   */
  readonly seat?: string;
}

/** Element of a page, such as an `HTMLElement`. */
export interface PageElement {
  /** Its content. */
  innerHTML: string;
  /** Finds the first element inside that a selector names. */
  querySelector(selector: string): object | null;
}

/** What is used of elements inside, as Deno has no types of pages. */
interface Part {
  textContent: string;
  value: string;
  width: number;
  height: number;
  hidden: boolean;
  checked: boolean;
  readonly style: { setProperty(name: string, value: string): void };
  setAttribute(name: string, value: string): void;
  querySelector(selector: string): Part;
  addEventListener(type: string, listener: () => void): void;
  getContext(kind: "2d"): { putImageData(it: ImageData, x: 0, y: 0): void };
}

/** Milliseconds for which a person sees what the agent thinks before it moves. */
const THINKING_MS = 700;

/** Pixels in a row of the picture, two for each of the page's. */
const WIDTH = 832;

/** The elements of a game of so many actions. */
function markup(count: number, grid: PageWorld["actionGrid"]): string {
  const [rows, columns] = grid ?? [0, Math.min(count, 9)];
  const layout = rows === 0
    ? "row"
    : rows === 1
    ? "over columns"
    : "over cells";
  const bar = (kind: string) => `<span class="bar ${kind}"></span>`;
  const buttons = Array.from(
    { length: count },
    (_, i) =>
      `<button type="button" data-move="${i}"><span class="odds">${
        bar("agent") + bar("hint")
      }<b></b></span></button>`,
  );
  return `<section class="bellman-game"><style>${texts["game.css"]}</style>
<p role="status" aria-live="polite"></p>
<div class="stage ${layout}"><canvas role="img"></canvas>
<div class="moves" role="group" aria-label="Moves" style="--columns: ${columns}">${
    buttons.join("")
  }</div></div>
<p class="legend"><span class="agent">■ the agent before its last move, in percent</span>
<label class="hint"><input type="checkbox" checked> ■ the agent in your place</label></p>
<p><label>Your seat <select></select></label> <button type="button" class="new">New game</button></p>
</section>`;
}

/** A game in an element. */
class GamePage {
  readonly #world: PageWorld;
  readonly #match: Match;
  readonly #root: Part;
  readonly #buttons: readonly Part[];
  #seat: number;
  /** What the agent thought before its last move. */
  #last?: Thought;
  #timer?: ReturnType<typeof setTimeout>;

  constructor(
    element: PageElement,
    { world, policy, seat }: PlayInPageOptions,
  ) {
    this.#match = new Match(world, policy);
    this.#world = world;
    const names = world.seats.map(({ name }) => name);
    this.#seat = seat === undefined ? 0 : names.indexOf(seat);
    if (this.#seat < 0) {
      throw new RangeError(
        `Unknown seat '${seat}': expected one of ${names.join(", ")}`,
      );
    }
    const counts = names.map((_, i) => actionsOf(world, i).n);
    element.innerHTML = markup(Math.max(...counts), world.actionGrid);
    this.#root = element.querySelector("section") as Part;
    this.#buttons = Array.from(
      { length: Math.max(...counts) },
      (_, i) => this.#find(`[data-move="${i}"]`),
    );
    this.#listen(names);
    this.#show();
  }

  /** Ends the game. */
  close(): void {
    clearTimeout(this.#timer);
    removeEventListener("keydown", this.#press);
  }

  #find(selector: string): Part {
    return this.#root.querySelector(selector);
  }

  /** Smallest action of the person. */
  get #start(): number {
    return actionsOf(this.#world, this.#seat).start ?? 0;
  }

  #listen(names: readonly string[]): void {
    const seats = this.#find("select") as Part & PageElement;
    seats.innerHTML = names.map((_, i) => `<option value="${i}">`).join("");
    names.forEach((it, i) =>
      seats.querySelector(`[value="${i}"]`).textContent = it
    );
    seats.value = String(this.#seat);
    seats.addEventListener("change", () => this.#begin(Number(seats.value)));
    this.#find(".new")
      .addEventListener("click", () => this.#begin(this.#seat));
    this.#find("input").addEventListener("change", () => this.#show());
    this.#buttons.forEach((it, i) =>
      it.addEventListener("click", () => this.#click(i))
    );
    addEventListener("keydown", this.#press);
  }

  readonly #press = (event: Event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event as Event & {
      readonly [name: string]: unknown;
    };
    const { localName } = Object(target) as { localName?: string };
    const isOurs = !/^(input|select|textarea)$/.test(localName ?? "") &&
      !ctrlKey && !metaKey && !altKey && /^\d$/.test(String(key));
    if (isOurs) this.#click(Number(key) - this.#start);
  };

  #begin(seat: number): void {
    this.#seat = seat;
    this.#last = undefined;
    this.#match.begin();
    this.#show();
  }

  /** Moves the person, where that is allowed. */
  #click(choice: number): void {
    if (this.#match.thoughts[this.#seat]?.allowed[choice] !== 1) return;
    this.#move(choice);
  }

  /** Moves the person and all others that are to act. */
  #move(choice: number): void {
    this.#last = this.#othersThought() ?? this.#last;
    this.#match.step(this.#seat, choice + this.#start);
    this.#show();
  }

  /** What the agent thinks in another seat, if one is to act. */
  #othersThought(): Thought | undefined {
    return this.#match.thoughts.find((it, seat) => it && seat !== this.#seat);
  }

  #show(): void {
    const own = this.#match.thoughts[this.#seat], other = this.#othersThought();
    this.#draw();
    this.#find("[role=status]").textContent = this.#status();
    clearTimeout(this.#timer);
    if (!own && other) {
      this.#timer = setTimeout(() => this.#move(0), THINKING_MS);
    }
    const shown = own ? this.#last : other ?? this.#last;
    const hints = this.#find("input").checked ? own?.probabilities : undefined;
    this.#find(".legend").hidden = !(own ?? shown)?.probabilities;
    this.#buttons.forEach((button, i) => {
      button.querySelector("b").textContent = String(i + this.#start);
      const texts = [
        showBar(button.querySelector(".agent"), shown?.probabilities?.[i]),
        showBar(button.querySelector(".hint"), hints?.[i]),
      ];
      const isAllowed = own?.allowed[i] === 1;
      // Disabled buttons would lose the focus in each turn of the agent.
      button.setAttribute("aria-disabled", String(!isAllowed));
      button.setAttribute(
        "aria-label",
        `Move ${i + this.#start}: agent ${texts[0]}, in your place ${texts[1]}`,
      );
    });
  }

  #status(): string {
    const { thoughts } = this.#match;
    const moved = this.#last ? `The agent played ${this.#last.action}. ` : "";
    if (thoughts[this.#seat]) return `${moved}Your move`;
    if (this.#othersThought()) return "The agent thinks";
    const lead = this.#match.lead(this.#seat);
    return moved + (lead > 0 ? "You won" : lead < 0 ? "You lost" : "A draw");
  }

  #draw(): void {
    const world = this.#world, small = world.render(0);
    // Worlds that draw in one size alone give that.
    const { width, height, data } = world.render(0, {
      width: WIDTH,
      height: Math.round(WIDTH * small.height / small.width),
    });
    const canvas = this.#find("canvas");
    [canvas.width, canvas.height] = [width, height];
    canvas.setAttribute("aria-label", world.text?.(0) ?? "The game");
    const pixels = new ImageData(width, height);
    for (let i = 0; i < width * height; i++) {
      pixels.data.set([...data.subarray(3 * i, 3 * i + 3), 255], 4 * i);
    }
    canvas.getContext("2d").putImageData(pixels, 0, 0);
  }
}

/** Shows a probability, unless it is none; returns its text. */
function showBar(bar: Part, probability?: number): string {
  const percent = String(Math.round(100 * (probability ?? 0)));
  bar.textContent = percent;
  bar.style.setProperty("--p", String(probability ?? 0));
  bar.hidden = !probability;
  return probability === undefined ? "unknown" : `${percent} percent`;
}

/**
 * Checks that a person can play a game in a page.
 *
 * @param options World and policy, as of {@linkcode playInPage}.
 * @throws {TypeError} As {@linkcode playInPage}, and the others.
 * @example
 * ```ts
 * import { checkInPage } from "@bellman/client/page";
 * import { Soccer } from "@bellman/envs/games";
 * import { assertThrows } from "@std/assert";
 *
 * const options = { world: new Soccer({ numEnvs: 2 }), policy: new Uint8Array() };
 * assertThrows(() => checkInPage(options), TypeError, "expected one");
 * ```
 */
export function checkInPage(
  { world, policy }: Pick<PlayInPageOptions, "world" | "policy">,
): void {
  new Match(world, policy);
}

/**
 * Draws a game into an element of a page: its picture, a button for each move, whose
 * turn it is and how it ended. A person clicks or presses a digit; the agent moves in
 * all other seats, and shows the probabilities of its moves, and of those that it would
 * make in the person's place.
 *
 * @param element Element whose content is replaced.
 * @param options World, the agent's file, and the person's seat.
 * @returns A function that ends the game and its timers.
 * @throws {TypeError} If it is not one world of several seats whose actions are
 * discrete, or the policy is of other observations.
 * @throws {SyntaxError} If the file is no policy.
 * @throws {RangeError} If there is no such seat, or observations have another size.
 *
 * @example
 * ```ts
 * import { playInPage } from "@bellman/client/page";
 * import { ConnectFour } from "@bellman/envs/games";
 * import { assertThrows } from "@std/assert";
 *
 * const element = { innerHTML: "", querySelector: () => null };
 * const policy = await Deno.readFile("zoo/a2c/CartPole-v1/policy.onnx");
 * assertThrows(
 *   () => playInPage(element, { world: new ConnectFour(), policy }),
 *   RangeError,
 *   "Cannot act on 84 numbers of observation: expected 4",
 * );
 * ```
 */
export function playInPage(
  element: PageElement,
  options: PlayInPageOptions,
): () => void {
  const page = new GamePage(element, options);
  return () => page.close();
}
