/// <reference lib="dom" />
/** Parts of several views. Texts are inserted as text, never as markup. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { ShownFolder } from "../answers.ts";
import type { View } from "./address.ts";
import type { Client } from "./client.ts";
import { count } from "./format.ts";
import { COLORS } from "./groups.ts";

/** State of the views, with functions that change the address. */
export interface Board {
  client: Client;
  view: View;
  /** Changes the view; `replace` adds no entry to the browser's history. */
  go(changes: Partial<View>, step?: "push" | "replace"): void;
  /** Returns the address of another view, without the parts of this one. */
  link(changes: Partial<View>): string;
}

/** Downloads a file. */
export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name.replaceAll(/[^\w.-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Shows the line style of a curve. */
export function Swatch({ color }: { color: number }): JSX.Element {
  const dash = Math.floor(color / COLORS) % 4;
  const style = { color: `var(--color${color % COLORS})` };
  return <span class={`swatch dash${dash}`} style={style} />;
}

/** Shows a state, with its reason as a tooltip. */
export function State({ folder }: { folder: ShownFolder }): JSX.Element {
  const hint = [folder.reason ?? "", ...folder.problems].filter(Boolean);
  return (
    <span class="state" data-state={folder.state} title={hint.join("\n")}>
      {folder.state}
    </span>
  );
}

/** Shows a number as a fraction of a whole. */
export function Progress(
  { value, total, what = "" }: {
    value: number;
    total: number | null;
    what?: string;
  },
): JSX.Element {
  return (
    <span class="progress">
      {total !== null && (
        <progress
          max={1}
          value={Math.min(1, value / (total || 1))}
          aria-label="Done"
        />
      )}
      <span>
        {total === null ? count(value) : `${count(value)} of ${count(total)}`}
        {what}
      </span>
    </span>
  );
}

/** Lists problems. */
export function Problems({ lines }: { lines: readonly string[] }): JSX.Element {
  return (
    <ul class="problems" role="status">
      {lines.filter((it) => it !== "").map((it) => <li key={it}>{it}</li>)}
    </ul>
  );
}

/** Shows a section with a heading. */
export function Section(
  { title, children }: { title: string; children: ComponentChildren },
): JSX.Element {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Shows a menu of check boxes, opened by a click on its name. */
export function Menu(
  { name, all, chosen, textOf, onToggle }: {
    name: string;
    all: readonly string[];
    chosen: readonly string[];
    textOf(name: string): string;
    onToggle(name: string, isOn: boolean): void;
  },
): JSX.Element {
  return (
    <details class="menu">
      <summary class="card">{name}</summary>
      <div class="card choices">
        {all.map((item) => (
          <label class="check" title={item} key={item}>
            <span>{textOf(item)}</span>
            <input
              type="checkbox"
              value={item}
              checked={chosen.includes(item)}
              onChange={({ currentTarget }) =>
                onToggle(item, currentTarget.checked)}
            />
          </label>
        ))}
      </div>
    </details>
  );
}

/** Shows a choice of values. */
export function Choice<Value extends string>(
  { label, options, value, onChange, wide = false }: {
    label: string;
    options: Readonly<Record<Value, string>>;
    value: Value;
    onChange(value: Value): void;
    wide?: boolean;
  },
): JSX.Element {
  return (
    <label class={wide ? "wide" : undefined}>
      <span>{label}</span>
      <select
        value={value}
        onChange={(event) => onChange(event.currentTarget.value as Value)}
      >
        {Object.entries<string>(options).map(([it, text]) => (
          <option value={it} key={it} selected={it === value}>{text}</option>
        ))}
      </select>
    </label>
  );
}

/** Shows a button that copies a text, with feedback. */
export function Copy(
  { text, what }: { text: string; what: string },
): JSX.Element {
  const [said, say] = useState("Copy");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied");
    } catch {
      // Browsers refuse this for a page in the background.
      say("Cannot copy");
    }
    setTimeout(() => say("Copy"), 2000);
  };
  return (
    <button
      type="button"
      class="small"
      aria-label={`Copy ${what}`}
      onClick={copy}
    >
      {said}
    </button>
  );
}

/** Shows a table; the first cell of each row is a name. */
export function Table(
  { caption, head, rows }: {
    caption: string;
    head: ComponentChildren[];
    rows: readonly (readonly ComponentChildren[])[];
  },
): JSX.Element {
  return (
    <div
      class="card scroll"
      tabIndex={0}
      role="region"
      aria-label={caption}
    >
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>{head.map((it, i) => <th scope="col" key={i}>{it}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>{row.map((it, k) => <td key={k}>{it}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
