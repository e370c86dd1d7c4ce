import { DOMParser, type Element, onWarningStopParsing } from "@xmldom/xmldom";

/** An image as a tree; anything that is not well-formed XML throws. */
export function parseSvg(text: string): Element {
  const parser = new DOMParser({ onError: onWarningStopParsing });
  return parser.parseFromString(text, "image/svg+xml").documentElement!;
}

/** The elements of a class, in order. */
export function ofClass(root: Element, name: string): Element[] {
  return Array.from(root.getElementsByTagName("*"))
    .filter((it) => (it.getAttribute("class") ?? "").split(" ").includes(name));
}

/** The elements of a name within those of a class, in order. */
export function within(root: Element, name: string, tag: string): Element[] {
  return ofClass(root, name)
    .flatMap((it) => Array.from(it.getElementsByTagName(tag)));
}

/** Attributes as numbers. */
export function numbersOf(element: Element, ...names: string[]): number[] {
  return names.map((name) => Number(element.getAttribute(name)));
}

/** The texts of elements of a class. */
export function textsOf(root: Element, name: string): string[] {
  return ofClass(root, name).map((it) => it.textContent ?? "");
}

/** The points of a path's rings or lines. */
export function pointsOf(path: Element): [number, number][][] {
  return path.getAttribute("d")!.split("M").slice(1).map((ring) =>
    ring.replace("Z", "").split("L").map((it) => {
      const [x, y] = it.split(/[ ,]/).map(Number);
      return [x, y];
    })
  );
}
