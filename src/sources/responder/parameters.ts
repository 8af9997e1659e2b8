/**
 * Protocol parameters as a Conway ledger encodes them: 31 fields in order.
 * The values are mainnet's of 2026 as far as a wallet computes with them; the
 * cost models are empty, since nothing here runs scripts.
 *
 * CDDL: cardano-ledger, Conway `PParams` as answered to queries (an array, not the update map).
 */
import { CborWriter } from '../../util/cbor-write.ts';

const TAG_RATIONAL = 30;

type Ratio = readonly [number, number];

function ratio(w: CborWriter, [over, under]: Ratio): CborWriter {
  return w.tag(TAG_RATIONAL).array(2).uint(over).uint(under);
}

const POOL_THRESHOLDS: readonly Ratio[] = Array.from({ length: 5 }, (): Ratio => [51, 100]);
const DREP_THRESHOLDS: readonly Ratio[] = [67, 67, 60, 75, 60, 67, 67, 67, 75, 67].map((percent): Ratio => [percent, 100]);

export function encodeParameters(): Uint8Array {
  const w = new CborWriter(512).array(31);
  // minFeeA, minFeeB, maxBlockBodySize, maxTxSize, maxBlockHeaderSize, keyDeposit, poolDeposit, eMax, nOpt
  for (const value of [44, 155_381, 90_112, 16_384, 1100, 2_000_000, 500_000_000, 18, 500]) w.uint(value);
  // a0, rho, tau
  ratio(w, [3, 10]);
  ratio(w, [3, 1000]);
  ratio(w, [1, 5]);
  // protocol version, minPoolCost, coinsPerUtxoByte, cost models
  w.array(2).uint(10).uint(0).uint(170_000_000).uint(4310).map(0);
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
