/**
 * The devnet's protocol parameters: what its genesis file says of them, and what
 * its ledger answers when asked. The values are mainnet's of 2026 as far as a
 * wallet computes with them, cost models included.
 */
import { CborWriter } from '../../../util/cbor-write.ts';
import { COST_MODELS } from './cost-models.ts';

const TAG_RATIONAL = 30;

type Ratio = readonly [number, number];

export const PARAMETERS = {
  minFeeA: 44,
  minFeeB: 155_381,
  maxBlockBodySize: 90_112,
  maxTxSize: 16_384,
  maxBlockHeaderSize: 1100,
  keyDeposit: 2_000_000,
  poolDeposit: 500_000_000,
  eMax: 18,
  nOpt: 500,
  a0: [3, 10],
  rho: [3, 1000],
  tau: [1, 5],
  protocolVersion: { major: 10, minor: 0 },
  minPoolCost: 170_000_000,
} as const;

const POOL_THRESHOLDS: readonly Ratio[] = Array.from({ length: 5 }, (): Ratio => [51, 100]);
const DREP_THRESHOLDS: readonly Ratio[] = [67, 67, 60, 75, 60, 67, 67, 67, 75, 67].map((percent): Ratio => [percent, 100]);

/**
 * As a Conway ledger encodes them: 31 fields in order. Other eras have other
 * fields, so this is an answer in Conway alone.
 *
 * CDDL: cardano-ledger, Conway `PParams` as answered to queries (an array, not the update map).
 */
export function encodeConwayParameters(): Uint8Array {
  const p = PARAMETERS;
  const w = new CborWriter(4096).array(31);
  for (const value of [p.minFeeA, p.minFeeB, p.maxBlockBodySize, p.maxTxSize, p.maxBlockHeaderSize]) w.uint(value);
  for (const value of [p.keyDeposit, p.poolDeposit, p.eMax, p.nOpt]) w.uint(value);
  for (const value of [p.a0, p.rho, p.tau]) ratio(w, value);
  w.array(2).uint(p.protocolVersion.major).uint(p.protocolVersion.minor);
  // minPoolCost, coinsPerUtxoByte, cost models
  w.uint(p.minPoolCost).uint(4310).map(COST_MODELS.size);
  for (const [language, model] of COST_MODELS) {
    w.uint(language).array(model.length);
    for (const cost of model) w.int(cost);
  }
  // prices of memory and steps
  w.array(2);
  ratio(w, [577, 10_000]);
  ratio(w, [721, 10_000_000]);
  // execution units of a transaction and of a block; maxValueSize, collateralPercentage, maxCollateralInputs
  w.array(2).uint(16_500_000).uint(10_000_000_000).array(2).uint(72_000_000).uint(20_000_000_000);
  for (const value of [5000, 150, 3]) w.uint(value);
  w.array(POOL_THRESHOLDS.length);
  for (const threshold of POOL_THRESHOLDS) ratio(w, threshold);
  w.array(DREP_THRESHOLDS.length);
  for (const threshold of DREP_THRESHOLDS) ratio(w, threshold);
  // committeeMinSize, committeeMaxTermLength, govActionLifetime, govActionDeposit, drepDeposit, drepActivity
  for (const value of [0, 146, 6, 100_000_000_000, 500_000_000, 20]) w.uint(value);
  // minFeeRefScriptCostPerByte
  return ratio(w, [15, 1]).take();
}

function ratio(w: CborWriter, [over, under]: Ratio): CborWriter {
  return w.tag(TAG_RATIONAL).array(2).uint(over).uint(under);
}
