/**
 * Protocol parameters as a Conway ledger answers them: an array of 31 fields in
 * the order of `ConwayPParams`. Read are those that a builder of transactions
 * computes with; the rest is skipped.
 *
 * CDDL: cardano-ledger, Conway `PParams` as answered to queries.
 */
import { Cursor } from '../../util/cbor.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';

/** A fraction of two whole numbers. */
export interface Ratio {
  /** What stands over the line. */
  readonly over: bigint;
  /** What stands under it. */
  readonly under: bigint;
}

/** What running scripts costs: memory and steps. */
export interface ExecutionUnits {
  /** Units of memory. */
  readonly memory: bigint;
  /** Units of CPU time. */
  readonly steps: bigint;
}

/** What a builder of transactions has to know of a ledger in the Conway era. */
export interface ProtocolParameters {
  /** Lovelace a byte of a transaction costs. */
  readonly feePerByte: bigint;
  /** Lovelace any transaction costs. */
  readonly feeFixed: bigint;
  /** Bytes that a transaction may have. */
  readonly txBytesMax: number;
  /** Lovelace that an output must hold for each of its bytes. */
  readonly lovelacePerUtxoByte: bigint;
  /** Cost models by the number of the language: 0 is Plutus V1, 2 is Plutus V3. */
  readonly costModels: ReadonlyMap<number, readonly bigint[]>;
  /** Lovelace that a unit of memory costs. */
  readonly memoryPrice: Ratio;
  /** Lovelace that a unit of steps costs. */
  readonly stepsPrice: Ratio;
  /** What the scripts of a transaction may use together. */
  readonly txUnitsMax: ExecutionUnits;
  /** Bytes that the value of an output may have: its lovelace and its assets. */
  readonly valueBytesMax: number;
  /** Collateral in percent of the fee. */
  readonly collateralPercent: bigint;
  /** Inputs that may be named as collateral. */
  readonly collateralInputsMax: number;
  /** Lovelace a byte of a reference script costs, up to the first 25,600 of them. */
  readonly referenceScriptBytePrice: Ratio;
}

const FIELDS = 31;
const TAG_RATIONAL = 30;

/** Throws PROTOCOL when this is not what a Conway ledger says. */
export function decodeProtocolParameters(cbor: Uint8Array): ProtocolParameters {
  try {
    return readParameters(new Cursor(cbor));
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('PROTOCOL', `the protocol parameters are not those of a Conway ledger: ${error.message}`, {}, error);
  }
}

function readParameters(c: Cursor): ProtocolParameters {
  const fields = c.tuple(FIELDS, 'protocol parameters');
  const feePerByte = c.bigUint();
  const feeFixed = c.bigUint();
  skip(c, 1); // maxBlockBodySize
  const txBytesMax = c.uint();
  skip(c, 10); // maxBlockHeaderSize, deposits, eMax, nOpt, a0, rho, tau, protocolVersion, minPoolCost
  const lovelacePerUtxoByte = c.bigUint();
  const costModels = readCostModels(c);
  const prices = c.tuple(2, 'prices');
  const [memoryPrice, stepsPrice] = [readRatio(c), readRatio(c)];
  c.close(prices);
  const txUnitsMax = readUnits(c);
  skip(c, 1); // maxBlockExUnits
  const valueBytesMax = c.uint();
  const collateralPercent = c.bigUint();
  const collateralInputsMax = c.uint();
  skip(c, 8); // voting thresholds, committee, governance actions, DReps
  const referenceScriptBytePrice = readRatio(c);
  c.close(fields);
  return {
    feePerByte,
    feeFixed,
    txBytesMax,
    lovelacePerUtxoByte,
    costModels,
    memoryPrice,
    stepsPrice,
    txUnitsMax,
    valueBytesMax,
    collateralPercent,
    collateralInputsMax,
    referenceScriptBytePrice,
  };
}

function skip(c: Cursor, fields: number): void {
  for (let i = 0; i < fields; i++) c.skip();
}

function readCostModels(c: Cursor): ReadonlyMap<number, readonly bigint[]> {
  const models = new Map<number, readonly bigint[]>();
  for (let i = 0, count = c.map(); c.more(count, i); i++) {
    const language = c.uint();
    const model: bigint[] = [];
    for (let j = 0, n = c.array(); c.more(n, j); j++) model.push(c.bigInt());
    models.set(language, model);
  }
  return models;
}

function readUnits(c: Cursor): ExecutionUnits {
  const pair = c.tuple(2, 'execution units');
  const units = { memory: c.bigUint(), steps: c.bigUint() };
  c.close(pair);
  return units;
}

function readRatio(c: Cursor): Ratio {
  if (c.tag() !== TAG_RATIONAL) c.fail('expected a fraction');
  const pair = c.tuple(2, 'a fraction');
  const ratio = { over: c.bigUint(), under: c.bigUint() };
  c.close(pair);
  if (ratio.under === 0n) c.fail('a fraction of nothing');
  return ratio;
}
