/// <reference lib="dom" />
import {
  type Box,
  COLORS,
  type Curve,
  DASHES,
  type Frame,
  placing,
} from "./data/frame.ts";

/** Where and in what curves are drawn. */
export interface Ground {
  frame: Frame;
  /** Place on the canvas, in its pixels. */
  box: Box;
  colors: readonly string[];
}

/** Curves from which on those that stay are kept as a picture. */
const MANY = 20;
/** Curves that may be drawn over the picture. */
const MOVING = 10;

/** Curves that stayed between two drawings, as a picture. */
interface Still {
  name: string;
  curves: ReadonlySet<Curve>;
  picture: OffscreenCanvas;
}

/** Draws curves: where there are many, those that did not change as a picture. */
export class Painter {
  readonly #paths = new PathCache();
  #still: Still | undefined;
  #before: ReadonlySet<Curve> = new Set();

  /** Draws curves onto a canvas. */
  paint(
    context: CanvasRenderingContext2D,
    curves: readonly Curve[],
    ground: Ground,
  ): void {
    const { box: { left, top, width, height } } = ground;
    const before = this.#before;
    this.#before = new Set(curves);
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    if (curves.length < MANY) this.#stroke(context, curves, ground);
    else {
      const { picture, curves: still } = this.#stillOf(before, ground);
      context.drawImage(picture, 0, 0);
      const moving = curves.filter((it) => !still.has(it));
      this.#stroke(context, moving, ground);
    }
    context.restore();
  }

  /** Returns the picture, a new one where it shows what is not there any more, or too little. */
  #stillOf(before: ReadonlySet<Curve>, ground: Ground): Still {
    const now = this.#before, known = this.#still;
    const name = JSON.stringify(ground);
    if (
      known?.name === name && known.curves.isSubsetOf(now) &&
      now.size - known.curves.size <= MOVING
    ) return known;
    // The first time all of them.
    const stayed = now.intersection(before);
    const curves = stayed.size > 0 ? stayed : now;
    const { box: { left, top, width, height } } = ground;
    const picture = new OffscreenCanvas(left + width, top + height);
    this.#stroke(picture.getContext("2d")!, [...curves], ground);
    return this.#still = { name, curves, picture };
  }

  #stroke(
    context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
    curves: readonly Curve[],
    { frame, box, colors }: Ground,
  ): void {
    const paths = this.#paths.in(frame, box), ratio = devicePixelRatio;
    const isMany = this.#before.size > 2 * MANY;
    context.lineJoin = "round";
    for (const curve of curves) {
      const { line, band, dot } = paths.of(curve);
      context.strokeStyle = context.fillStyle = colors[curve.color % COLORS];
      if (band !== undefined) {
        context.globalAlpha = isMany ? 0.08 : 0.2;
        context.fill(band);
        context.globalAlpha = 1;
      }
      if (dot !== undefined) context.fill(dot);
      const dash = DASHES[Math.floor(curve.color / COLORS) % DASHES.length];
      context.setLineDash(dash.map((it) => it * ratio));
      context.lineWidth = (isMany ? 1 : 1.75) * ratio;
      context.stroke(line);
    }
  }
}

interface Paths {
  line: Path2D;
  band?: Path2D;
  /** Points of their own, and a line of one point. */
  dot?: Path2D;
}

/** Paths of curves: those that did not change are drawn as they were. */
class PathCache {
  #name = "";
  #made = new WeakMap<Curve, Paths>();
  #place = { x: (_: number) => 0, y: (_: number) => 0, width: 0 };

  /** Takes ranges and a place on the canvas. */
  in(frame: Frame, box: Box): this {
    const name = JSON.stringify([frame, box]);
    if (name === this.#name) return this;
    this.#name = name;
    this.#made = new WeakMap();
    this.#place = { ...placing(frame, box), width: box.width };
    return this;
  }

  of(curve: Curve): Paths {
    const known = this.#made.get(curve);
    if (known !== undefined) return known;
    const made = this.#make(curve);
    this.#made.set(curve, made);
    return made;
  }

  #make({ x, y, low, high, isDots }: Curve): Paths {
    const line = new Path2D();
    if (isDots || x.length === 1) return { line, dot: this.#dots(x, y) };
    this.#trace(line, x, y);
    if (low === undefined || high === undefined) return { line };
    const band = new Path2D();
    this.#trace(band, x, high);
    this.#trace(band, x.toReversed(), low.toReversed(), true);
    band.closePath();
    return { line, band };
  }

  #dots(x: readonly number[], y: readonly number[]): Path2D {
    const dots = new Path2D(), size = 3 * devicePixelRatio;
    x.forEach((it, i) => {
      const [left, top] = [this.#place.x(it), this.#place.y(y[i])];
      if (!Number.isFinite(top)) return;
      dots.moveTo(left + size, top);
      dots.arc(left, top, size, 0, 2 * Math.PI);
    });
    return dots;
  }

  /** Draws a line: of the points within one column of pixels the ends, the lowest and the highest. */
  #trace(
    path: Path2D,
    x: readonly number[],
    y: readonly number[],
    isBegun = false,
  ): void {
    const { x: left, y: top, width } = this.#place;
    const isDense = x.length > 4 * width;
    let column = NaN, last = NaN, least = NaN, most = NaN;
    for (let i = 0; i < x.length; i++) {
      const [h, v] = [left(x[i]), top(y[i])];
      if (!Number.isFinite(v)) continue;
      if (isDense && Math.round(h) === column) {
        least = Math.min(least, v);
        most = Math.max(most, v);
        last = v;
        continue;
      }
      if (least < most) {
        for (const it of [least, most, last]) path.lineTo(column, it);
      }
      column = isDense ? Math.round(h) : h;
      least = most = last = v;
      if (isBegun) path.lineTo(column, v);
      else path.moveTo(column, v);
      isBegun = true;
    }
    if (least < most) path.lineTo(column, last);
  }
}
