/// <reference lib="dom" />
import { Kept, make, setAttributes, setChildren, setText } from "./dom.ts";

/** Column of a table. */
export interface Column<Row> {
  id: string;
  title: string;
  /** Value that rows are sorted by. */
  value(row: Row): unknown;
  /** Its text, where that is not the value. */
  text?(row: Row): string;
  /** Elements to show, made once for a row; `update` sets what changes. */
  cell?(): { element: HTMLElement; update(row: Row): void };
  isNumber?: boolean;
}

interface Cell<Row> {
  element: HTMLTableCellElement;
  update(row: Row): void;
}

interface KeptRow<Row> {
  element: HTMLTableRowElement;
  cells: Map<string, Cell<Row>>;
}

/** Table whose rows and cells stay while what they show changes. */
export class Table<Row> {
  readonly element: HTMLElement;
  readonly #head = make("tr");
  readonly #heads: Kept<
    { element: HTMLTableCellElement; button: HTMLButtonElement }
  >;
  readonly #rows: Kept<KeptRow<Row>>;
  readonly #onSort: (id: string) => void;

  /**
   * Makes an empty table.
   *
   * @param caption What it is of.
   * @param onSort Called with the id of a column.
   */
  constructor(caption: string, onSort: (id: string) => void) {
    const body = make("tbody");
    this.#onSort = onSort;
    this.#heads = new Kept(this.#head);
    this.#rows = new Kept(body);
    this.element = make(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
      make(
        "table",
        {},
        make("caption", { class: "unseen" }, caption),
        make("thead", {}, this.#head),
        body,
      ),
    );
  }

  /** Shows rows, in order, by their keys. */
  show(
    rows: ReadonlyMap<string, Row>,
    { columns, sort }: { columns: readonly Column<Row>[]; sort: string },
  ): void {
    this.#showHead(columns, sort);
    const ids = columns.map(({ id }) => id).join("\n");
    const shown = this.#rows.show([...rows.keys()], () => ({
      element: make("tr"),
      cells: new Map(),
    }));
    [...rows.values()].forEach((row, i) =>
      this.#showRow(shown[i], row, { columns, ids })
    );
  }

  #showHead(columns: readonly Column<Row>[], sort: string): void {
    const byId = new Map(columns.map((it) => [it.id, it]));
    const heads = this.#heads.show([...byId.keys()], (id) => {
      const button = make("button", { type: "button", class: "sort" });
      button.addEventListener("click", () => this.#onSort(id));
      return { element: make("th", { scope: "col" }, button), button };
    });
    [...byId.values()].forEach(({ id, title, isNumber }, i) => {
      const { element, button } = heads[i];
      const direction = sort === id
        ? "ascending"
        : sort === `-${id}`
        ? "descending"
        : undefined;
      setText(button, title);
      setAttributes(element, {
        "aria-sort": direction,
        class: isNumber ? "number" : undefined,
      });
    });
  }

  #showRow(
    { element, cells }: KeptRow<Row>,
    row: Row,
    { columns, ids }: { columns: readonly Column<Row>[]; ids: string },
  ): void {
    for (const column of columns) {
      if (!cells.has(column.id)) cells.set(column.id, cellOf(column));
      cells.get(column.id)!.update(row);
    }
    if (element.dataset.columns === ids) return;
    element.dataset.columns = ids;
    setChildren(element, columns.map(({ id }) => cells.get(id)!.element));
  }
}

function cellOf<Row>(
  { value, text, cell, isNumber }: Column<Row>,
): Cell<Row> {
  const element = make("td", { class: isNumber ? "number" : undefined });
  if (cell !== undefined) {
    const { element: inner, update } = cell();
    element.append(inner);
    return { element, update };
  }
  let last: string | undefined;
  return {
    element,
    update(row) {
      const shown = text?.(row) ?? String(value(row) ?? "");
      if (shown !== last) element.textContent = shown;
      last = shown;
    },
  };
}

/** Makes a table that does not change. */
export function plainTable(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly (Node | string)[])[],
): HTMLElement {
  return make(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    make(
      "table",
      {},
      make("caption", { class: "unseen" }, caption),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ...columns.map((it) => make("th", { scope: "col" }, it)),
        ),
      ),
      make(
        "tbody",
        {},
        ...rows.map((row) =>
          make("tr", {}, ...row.map((it) => make("td", {}, it)))
        ),
      ),
    ),
  );
}

/** Returns what a table is sorted by after a click on a column. */
export function sortAfter(sort: string, id: string): string {
  return sort === id ? `-${id}` : id;
}
