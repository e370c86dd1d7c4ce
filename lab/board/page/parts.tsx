/// <reference lib="dom" />
/** Parts that several views have. All text is given as text: none becomes markup. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { ShownFolder } from "../answers.ts";
import type { View } from "./address.ts";
import type { Client } from "./client.ts";
import { count } from "./format.ts";
import { COLORS } from "./groups.ts";

/** What views know, and how they change the address. */
export interface Board {
  client: Client;
  view: View;
  /** Changes the view; `replace` leaves the browser's way back as it is. */
  go(changes: Partial<View>, step?: "push" | "replace"): void;
  /** Returns the address of another view, without the parts that belong to this one. */
  link(changes: Partial<View>): string;
}

/** Offers a file. */
export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name.replaceAll(/[^\w.-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Shows the line of a curve. */
export function Swatch({ color }: { color: number }): JSX.Element {
  const dash = Math.floor(color / COLORS) % 4;
  const style = { color: `var(--color${color % COLORS})` };
  return <span class={`swatch dash${dash}`} style={style} />;
}

/** Shows a state, with its reason as a hint. */
export function State({ of }: { of: ShownFolder }): JSX.Element {
  const hint = [of.reason ?? "", ...of.problems].filter((it) => it !== "");
  return (
    <span class="state" data-state={of.state} title={hint.join("\n")}>
      {of.state}
    </span>
  );
}

/** Shows a number with its part of a whole. */
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

/** Lists what is wrong. */
export function Problems({ lines }: { lines: readonly string[] }): JSX.Element {
  return (
    <ul class="problems" role="status">
      {lines.filter((it) => it !== "").map((it) => <li key={it}>{it}</li>)}
    </ul>
  );
}

/** Shows a part under a heading. */
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

/** Shows a menu that a click on its name opens, with boxes to check. */
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
        {all.map((it) => (
          <label class="check" title={it} key={it}>
            <span>{textOf(it)}</span>
            <input
              type="checkbox"
              value={it}
              checked={chosen.includes(it)}
              onChange={({ currentTarget }) =>
                onToggle(it, currentTarget.checked)}
            />
          </label>
        ))}
      </div>
    </details>
  );
}

/** Shows a choice of values by their texts. */
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

/** Shows a button that copies a text, and says so. */
export function Copy(
  { text, what }: { text: string; what: string },
): JSX.Element {
  const [said, say] = useState("Copy");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied");
    } catch {
      // Browsers refuse where the page is not in front.
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

/** Shows a table of cells, the first row of which are names. */
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
