/// <reference lib="dom" />
/** Elements of the page. All text is given as text: none becomes markup. */

type Attributes = Readonly<
  Record<string, string | number | boolean | undefined>
>;

/**
 * Makes an element.
 *
 * @param tag Its name.
 * @param attributes Attributes by name: false and undefined leave one out.
 * @param children What is in it.
 */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** Sets attributes that have other values, and removes those that are false or undefined. */
export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) element.removeAttribute(name);
    else {
      const text = value === true ? "" : String(value);
      if (element.getAttribute(name) !== text) element.setAttribute(name, text);
    }
  }
}

/** Sets a text that is another one than before. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Puts elements into another one, in order; those that are there already stay, with their focus. */
export function setChildren(parent: Element, children: readonly Node[]): void {
  const wanted = new Set(children);
  for (const it of [...parent.childNodes]) if (!wanted.has(it)) it.remove();
  children.forEach((child, i) => {
    const there = parent.childNodes[i];
    if (there !== child) parent.insertBefore(child, there ?? null);
  });
}

/** Elements that are made once for each key, and kept while it is wanted. */
export class Kept<Value extends { readonly element: Element }> {
  readonly #parent: Element;
  readonly #made = new Map<string, Value>();

  /** Keeps elements in another one. */
  constructor(parent: Element) {
    this.#parent = parent;
  }

  /** Values that are there. */
  get values(): Iterable<Value> {
    return this.#made.values();
  }

  /** Shows those of some keys, in order, and returns them. */
  show(
    keys: readonly string[],
    makeOne: (key: string) => Value,
    end: (value: Value) => void = () => {},
  ): Value[] {
    const wanted = new Set(keys);
    for (const [key, value] of this.#made) {
      if (wanted.has(key)) continue;
      end(value);
      this.#made.delete(key);
    }
    const shown = [...wanted].map((key) => {
      const value = this.#made.get(key) ?? makeOne(key);
      this.#made.set(key, value);
      return value;
    });
    setChildren(this.#parent, shown.map(({ element }) => element));
    return shown;
  }
}

/** Makes a button. */
export function button(
  text: string,
  onClick: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const made = make("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", onClick);
  return made;
}

/** Makes a button that copies a text, and says so. */
export function copyButton(
  textOf: () => string,
  what: string,
): HTMLButtonElement {
  const made = button("Copy", async () => {
    const isCopied = await copy(textOf());
    setText(made, isCopied ? "Copied" : "Cannot copy");
    setTimeout(() => setText(made, "Copy"), 2000);
  }, { "aria-label": `Copy ${what}`, class: "small" });
  return made;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers refuse where the page is not in front.
    return false;
  }
}

/** Makes a field with its label. */
export function labelled(
  text: string,
  field: HTMLElement,
  attributes: Attributes = {},
): HTMLLabelElement {
  return make("label", attributes, make("span", {}, text), field);
}

/** Makes a menu that a click on its name opens. */
export function menu(name: string, content: HTMLElement): HTMLDetailsElement {
  return make("details", { class: "menu" }, make("summary", {}, name), content);
}

/** Makes a choice of values by their texts. */
export function choice<Value extends string>(
  options: Readonly<Record<Value, string>>,
  onChange: (value: Value) => void,
): HTMLSelectElement {
  const made = make(
    "select",
    {},
    ...Object.entries<string>(options).map(([value, text]) =>
      make("option", { value }, text)
    ),
  );
  made.addEventListener("change", () => onChange(made.value as Value));
  return made;
}

/** Sets the value of a field, unless a person is changing it. */
export function setValue(
  field: HTMLInputElement | HTMLSelectElement,
  value: string,
): void {
  if (field.value !== value && document.activeElement !== field) {
    field.value = value;
  }
}

/** Offers a text as a file. */
export function download(name: string, text: string, type: string): void {
  const href = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
