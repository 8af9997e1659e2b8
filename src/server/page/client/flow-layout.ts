/**
 * Where the ribbons of a drawing go that shows how value flows from what a
 * transaction spends to what it makes. Each is as thick as its share of the
 * whole, but never too thin to be seen; both sides meet in a knot. Pure.
 */

import { largest } from './format.ts';

/** An end of the flow: what it is worth, null where that is not known any more. */
export type FlowValue = bigint | null;

export interface Ribbon {
  /** Which of the ends of its side. */
  readonly index: number;
  readonly path: string;
  readonly width: number;
  /** Where it begins or ends at its edge. */
  readonly y: number;
  /** How many lines of words there is room for beside it. */
  readonly lines: number;
}

export interface FlowLayout {
  readonly height: number;
  /** From the left edge of the ribbons to the right one. */
  readonly from: number;
  readonly to: number;
  readonly left: readonly Ribbon[];
  readonly right: readonly Ribbon[];
}

/** Ends that are drawn on a side; those behind are drawn as one. */
export const ENDS_MAX = 100;
/** Pixels of the whole where both sides meet. */
const KNOT = { wide: 104, narrow: 64 } as const;
const NARROW = 620;
/** Room for words beside the ribbons. */
const LABEL = { wide: 262, narrow: 92 } as const;
const RIBBON_LEAST = 1.6;
/** Distance from one end to the next: without words, with one line of them, with two. */
const ROW_HEIGHTS = [5.5, 19, 38] as const;
const ROWS_WITH_TWO_LINES = 12;
const ROWS_WITH_ONE_LINE = 30;
const MARGIN = 10;
const PARTS = 1_000_000n;

export function flowLayout(inputs: readonly FlowValue[], outputs: readonly FlowValue[], width: number): FlowLayout {
  const isNarrow = width < NARROW;
  const knot = isNarrow ? KNOT.narrow : KNOT.wide;
  const label = isNarrow ? LABEL.narrow : LABEL.wide;
  const total = largest([sum(inputs), sum(outputs)]);
  const [left, right] = [inputs, outputs].map((side) => sideOf(side, total, knot));
  const height = Math.ceil(Math.max(left.height, right.height, knot) + 2 * MARGIN);
  const [from, to, middle] = [label, width - label, width / 2];
  return { height, from, to, left: ribbons(left, height, from, middle), right: ribbons(right, height, to, middle) };
}

interface Side {
  /** As they are drawn. */
  readonly widths: readonly number[];
  /** Their shares where both sides meet: together they are as thick as the other side. */
  readonly shares: readonly number[];
  readonly cells: readonly number[];
  readonly height: number;
  readonly lines: number;
}

function sideOf(values: readonly FlowValue[], total: bigint, knot: number): Side {
  const lines = values.length <= ROWS_WITH_TWO_LINES ? 2 : values.length <= ROWS_WITH_ONE_LINE ? 1 : 0;
  const row = ROW_HEIGHTS[lines];
  const shares = values.map((value) => knot * share(value ?? 0n, total));
  const widths = shares.map((thick) => Math.max(RIBBON_LEAST, thick));
  const cells = widths.map((thick) => Math.max(row, thick + 4));
  return { widths, shares, cells, height: cells.reduce((a, b) => a + b, 0), lines };
}

/** One side: stacked with room between them at its edge, without any at the knot. */
function ribbons({ widths, shares, cells, height: sideHeight, lines }: Side, height: number, edge: number, middle: number): Ribbon[] {
  let y = (height - sideHeight) / 2;
  let knotY = (height - shares.reduce((a, b) => a + b, 0)) / 2;
  const bend = (middle - edge) * 0.55;
  return widths.map((width, index) => {
    const [at, meets] = [round(y + cells[index] / 2), round(knotY + shares[index] / 2)];
    y += cells[index];
    knotY += shares[index];
    const path = `M${edge} ${at}C${round(edge + bend)} ${at} ${round(middle - bend)} ${meets} ${middle} ${meets}`;
    return { index, path, width: round(width), y: at, lines };
  });
}

function share(value: bigint, total: bigint): number {
  return total === 0n ? 0 : Number((value * PARTS) / total) / Number(PARTS);
}

function sum(values: readonly FlowValue[]): bigint {
  return values.reduce<bigint>((so, value) => so + (value ?? 0n), 0n);
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
