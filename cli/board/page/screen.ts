import type { View } from "./data/address.ts";
import type { Wish } from "./data/hub.ts";
import type { Index, Points } from "./data/model.ts";

/** What screens know, and how they change the view. */
export interface Board {
  readonly index: Index;
  readonly points: Points;
  readonly view: Readonly<View>;
  /** True once the index has come. */
  readonly isRead: boolean;
  /**
   * Changes the view.
   *
   * @param changes What becomes other.
   * @param step `push` where the browser's button goes back to before.
   */
  go(changes: Partial<View>, step?: "push" | "replace"): void;
  /** Returns the address of another view, without the parts that belong to this one. */
  link(changes: Partial<View>): string;
  /** Shows everything again, as an answer has come. */
  refresh(): void;
}

/** What is shown for a page of the address. */
export interface Screen {
  readonly element: HTMLElement;
  /** Title of the tab. */
  readonly title: string;
  /** Shows what is there now, and returns the curves that it wants. */
  show(): Wish[];
  /** Draws charts again in other colours. */
  recolor(): void;
  /** Ends what it has begun. */
  end(): void;
}
