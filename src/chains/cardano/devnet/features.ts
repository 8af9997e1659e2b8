/**
 * What a devnet's transactions look like: the weights and chances that choose
 * their shapes, and the list of every shape, so that a test can ask whether
 * each has occurred.
 */

export interface Features {
  /** Weights: which kind of transaction comes next. */
  readonly pay: number;
  readonly mint: number;
  readonly burn: number;
  /** Phase-2 invalid: its collateral is taken whole. */
  readonly invalid: number;
  /** Phase-2 invalid: some of its collateral comes back. */
  readonly invalidWithReturn: number;
  /** The same, and what came back is spent by the next transaction of the block. */
  readonly returnSpent: number;
  /** Transactions of one block that spend each other's outputs. */
  readonly chain: number;
  /** An output above 2^53 lovelace. */
  readonly huge: number;
  /** No outputs at all. */
  readonly allToFee: number;
  /** More outputs than fit a short array head; at times more than 256. */
  readonly wide: number;

  /** Chances, 0 to 1. */
  readonly mapOutput: number;
  readonly datumHash: number;
  readonly inlineDatum: number;
  readonly referenceScript: number;
  readonly referenceInputs: number;
  /** Collateral of a transaction that turns out valid, so that it must stay unspent. */
  readonly unusedCollateral: number;
  /** Inputs as a tag-258 set. */
  readonly setTag: number;
  /** Each array or map on its own. */
  readonly indefinite: number;
  /** The fields of a body in any order. */
  readonly shuffledKeys: number;
}

export const DEFAULT_FEATURES: Features = {
  pay: 50,
  mint: 10,
  burn: 6,
  invalid: 4,
  invalidWithReturn: 4,
  returnSpent: 3,
  chain: 5,
  huge: 4,
  allToFee: 2,
  wide: 1,
  mapOutput: 0.6,
  datumHash: 0.1,
  inlineDatum: 0.15,
  referenceScript: 0.08,
  referenceInputs: 0.15,
  unusedCollateral: 0.1,
  setTag: 0.5,
  indefinite: 0.15,
  shuffledKeys: 0.05,
};

const SHAPES = [
  'pay',
  'mint',
  'burn',
  'invalid',
  'invalidWithReturn',
  'returnSpent',
  'chain',
  'huge',
  'allToFee',
  'wide',
  'emptyBlock',
  'assetsOutput',
  'hugeQuantity',
  'legacyOutput',
  'mapOutput',
  'datumHashLegacy',
  'datumHashMap',
  'inlineDatum',
  'scriptNative',
  'scriptPlutusV1',
  'scriptPlutusV2',
  'scriptPlutusV3',
  'base',
  'baseScript',
  'enterprise',
  'enterpriseScript',
  'pointer',
  'pointerScript',
  'byron',
  'referenceInputs',
  'unusedCollateral',
  'unusedReturn',
  'setInputs',
  'plainInputs',
  'indefiniteInputs',
  'indefiniteOutputs',
  'indefiniteOutput',
  'indefiniteBody',
  'indefiniteBlock',
  'shuffledKeys',
] as const;

export type Shape = (typeof SHAPES)[number];

/** How often each shape was made, forks that were dropped included. */
export class ShapeCount {
  readonly counts: Record<Shape, number> = Object.fromEntries(SHAPES.map((shape) => [shape, 0])) as Record<Shape, number>;

  saw(shape: Shape): void {
    this.counts[shape]++;
  }
}

/** Era numbers as they stand in a wrapped block (docs: a header's are one less). */
export const ERA = { byronBoundary: 0, byron: 1, shelley: 2, allegra: 3, mary: 4, alonzo: 5, babbage: 6, conway: 7 } as const;
