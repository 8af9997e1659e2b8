/**
 * Protocol parameters as a Conway ledger answers them: an array of 31 fields in
 * the order of `ConwayPParams`.
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

/** A version of the protocol. */
export interface ProtocolVersion {
  /** Counts hard forks. */
  readonly major: number;
  /** Counts lesser changes since the hard fork. */
  readonly minor: number;
}

/** The parameters of a ledger in the Conway era. */
export interface ProtocolParameters {
  /** Lovelace a byte of a transaction costs. */
  readonly feePerByte: bigint;
  /** Lovelace any transaction costs. */
  readonly feeFixed: bigint;
  /** Bytes that the body of a block may have. */
  readonly blockBytesMax: number;
  /** Bytes that a transaction may have. */
  readonly txBytesMax: number;
  /** Bytes that the header of a block may have. */
  readonly headerBytesMax: number;
  /** Lovelace that registering a stake key takes. */
  readonly stakeKeyDeposit: bigint;
  /** Lovelace that registering a pool takes. */
  readonly poolDeposit: bigint;
  /** Epochs ahead that a pool may announce its retirement. */
  readonly poolRetirementEpochsMax: number;
  /** Pools among which stake is to be spread. */
  readonly poolsWanted: number;
  /** How much the pledge of a pool counts (a0). */
  readonly pledgeInfluence: Ratio;
  /** The share of the reserves that is paid out in an epoch (rho). */
  readonly monetaryExpansion: Ratio;
  /** The share of rewards that goes to the treasury (tau). */
  readonly treasuryShare: Ratio;
  /** The version of the protocol. */
  readonly protocolVersion: ProtocolVersion;
  /** Lovelace that a pool keeps of an epoch's rewards at least. */
  readonly poolCostMin: bigint;
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
  /** What the scripts of a block may use together. */
  readonly blockUnitsMax: ExecutionUnits;
  /** Bytes that the value of an output may have: its lovelace and its assets. */
  readonly valueBytesMax: number;
  /** Collateral in percent of the fee. */
  readonly collateralPercent: bigint;
  /** Inputs that may be named as collateral. */
  readonly collateralInputsMax: number;
  /** Shares of stake by which pools decide: no confidence, committee, committee after no confidence, hard fork, parameters of security. */
  readonly poolThresholds: readonly Ratio[];
  /** The same of DReps: those of the pools up to the committee after no confidence, constitution, hard fork, parameters of four groups, treasury. */
  readonly drepThresholds: readonly Ratio[];
  /** Members that the committee has at least. */
  readonly committeeSizeMin: number;
  /** Epochs that a member of the committee may stay. */
  readonly committeeTermMax: number;
  /** Epochs that a governance action can be voted on. */
  readonly actionLifetime: number;
  /** Lovelace that proposing a governance action takes. */
  readonly actionDeposit: bigint;
  /** Lovelace that registering a DRep takes. */
  readonly drepDeposit: bigint;
  /** Epochs after which a DRep that does not vote no longer counts. */
  readonly drepActivity: number;
  /** Lovelace a byte of a reference script costs, up to the first 25,600 of them. */
  readonly referenceScriptBytePrice: Ratio;
}

const FIELDS = 31;
const TAG_RATIONAL = 30;
const POOL_THRESHOLDS = 5;
const DREP_THRESHOLDS = 10;

/** Throws PROTOCOL when this is not what a Conway ledger says. */
export function decodeProtocolParameters(cbor: Uint8Array): ProtocolParameters {
  try {
    return readParameters(new Cursor(cbor));
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('PROTOCOL', `the protocol parameters are not those of a Conway ledger: ${error.message}`, {}, error);
  }
}

/** An object is made in the order it is written, which here is the order of the fields. */
function readParameters(c: Cursor): ProtocolParameters {
  const fields = c.tuple(FIELDS, 'protocol parameters');
  const parameters = {
    feePerByte: c.bigUint(),
    feeFixed: c.bigUint(),
    blockBytesMax: c.uint(),
    txBytesMax: c.uint(),
    headerBytesMax: c.uint(),
    stakeKeyDeposit: c.bigUint(),
    poolDeposit: c.bigUint(),
    poolRetirementEpochsMax: c.uint(),
    poolsWanted: c.uint(),
    pledgeInfluence: readRatio(c),
    monetaryExpansion: readRatio(c),
    treasuryShare: readRatio(c),
    protocolVersion: readPair(c, 'protocol version', () => ({ major: c.uint(), minor: c.uint() })),
    poolCostMin: c.bigUint(),
    lovelacePerUtxoByte: c.bigUint(),
    costModels: readCostModels(c),
    ...readPrices(c),
    txUnitsMax: readUnits(c),
    blockUnitsMax: readUnits(c),
    valueBytesMax: c.uint(),
    collateralPercent: c.bigUint(),
    collateralInputsMax: c.uint(),
    poolThresholds: readRatios(c, POOL_THRESHOLDS),
    drepThresholds: readRatios(c, DREP_THRESHOLDS),
    committeeSizeMin: c.uint(),
    committeeTermMax: c.uint(),
    actionLifetime: c.uint(),
    actionDeposit: c.bigUint(),
    drepDeposit: c.bigUint(),
    drepActivity: c.uint(),
    referenceScriptBytePrice: readRatio(c),
  };
  c.close(fields);
  return parameters;
}

/** What a proposal would change. It may ask for numbers that no ledger would take. */
export type ParameterUpdate = {
  readonly [Name in keyof ProtocolParameters]?: ProtocolParameters[Name] extends number ? number | bigint : ProtocolParameters[Name];
};

/** CDDL: conway.cddl, `protocol_param_update`. */
const UPDATES: ReadonlyMap<number, (c: Cursor) => ParameterUpdate> = new Map<number, (c: Cursor) => ParameterUpdate>([
  [0, (c) => ({ feePerByte: c.bigUint() })],
  [1, (c) => ({ feeFixed: c.bigUint() })],
  [2, (c) => ({ blockBytesMax: c.bigUint() })],
  [3, (c) => ({ txBytesMax: c.bigUint() })],
  [4, (c) => ({ headerBytesMax: c.bigUint() })],
  [5, (c) => ({ stakeKeyDeposit: c.bigUint() })],
  [6, (c) => ({ poolDeposit: c.bigUint() })],
  [7, (c) => ({ poolRetirementEpochsMax: c.bigUint() })],
  [8, (c) => ({ poolsWanted: c.bigUint() })],
  [9, (c) => ({ pledgeInfluence: readRatio(c) })],
  [10, (c) => ({ monetaryExpansion: readRatio(c) })],
  [11, (c) => ({ treasuryShare: readRatio(c) })],
  [16, (c) => ({ poolCostMin: c.bigUint() })],
  [17, (c) => ({ lovelacePerUtxoByte: c.bigUint() })],
  [18, (c) => ({ costModels: readCostModels(c) })],
  [19, readPrices],
  [20, (c) => ({ txUnitsMax: readUnits(c) })],
  [21, (c) => ({ blockUnitsMax: readUnits(c) })],
  [22, (c) => ({ valueBytesMax: c.bigUint() })],
  [23, (c) => ({ collateralPercent: c.bigUint() })],
  [24, (c) => ({ collateralInputsMax: c.bigUint() })],
  [25, (c) => ({ poolThresholds: readRatios(c, POOL_THRESHOLDS) })],
  [26, (c) => ({ drepThresholds: readRatios(c, DREP_THRESHOLDS) })],
  [27, (c) => ({ committeeSizeMin: c.bigUint() })],
  [28, (c) => ({ committeeTermMax: c.bigUint() })],
  [29, (c) => ({ actionLifetime: c.bigUint() })],
  [30, (c) => ({ actionDeposit: c.bigUint() })],
  [31, (c) => ({ drepDeposit: c.bigUint() })],
  [32, (c) => ({ drepActivity: c.bigUint() })],
  [33, (c) => ({ referenceScriptBytePrice: readRatio(c) })],
]);

/** Throws BLOCK_INVALID. */
export function readParameterUpdate(c: Cursor): ParameterUpdate {
  let update: ParameterUpdate = {};
  for (let i = 0, count = c.map(); c.more(count, i); i++) {
    const key = c.uint();
    const read = UPDATES.get(key) ?? c.fail(`a protocol parameter of unknown number ${key}`);
    update = { ...update, ...read(c) };
  }
  return update;
}

function readPrices(c: Cursor): Pick<ProtocolParameters, 'memoryPrice' | 'stepsPrice'> {
  return readPair(c, 'prices', () => ({ memoryPrice: readRatio(c), stepsPrice: readRatio(c) }));
}

function readPair<T>(c: Cursor, what: string, read: () => T): T {
  const pair = c.tuple(2, what);
  const value = read();
  c.close(pair);
  return value;
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
  return readPair(c, 'execution units', () => ({ memory: c.bigUint(), steps: c.bigUint() }));
}

function readRatios(c: Cursor, count: number): readonly Ratio[] {
  const list = c.tuple(count, 'thresholds');
  const ratios = Array.from({ length: count }, () => readRatio(c));
  c.close(list);
  return ratios;
}

export function readRatio(c: Cursor): Ratio {
  if (c.tag() !== TAG_RATIONAL) c.fail('expected a fraction');
  const ratio = readPair(c, 'a fraction', () => ({ over: c.bigUint(), under: c.bigUint() }));
  if (ratio.under === 0n) c.fail('a fraction of nothing');
  return ratio;
}
