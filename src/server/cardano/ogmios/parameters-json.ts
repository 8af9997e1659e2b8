/** Protocol parameters as Ogmios writes them, all or those that a proposal changes: fractions as text, amounts by their unit. */
import type { ExecutionUnits, ParameterUpdate, ProtocolParameters, Ratio } from '../../../ledgers/cardano/protocol-parameters.ts';
import type { JsonValue } from './json-text.ts';

/** Of the ledger, not among its parameters (Conway, `tierRefScriptFee` and `maxRefScriptSizePerTx`). */
const REFERENCE_SCRIPT_TIER = { range: 25_600, multiplier: 1.2 } as const;
const REFERENCE_SCRIPTS_BYTES_MAX = 204_800;
const LANGUAGES = ['plutus:v1', 'plutus:v2', 'plutus:v3'];

type Fields = Readonly<Record<string, JsonValue | undefined>>;

export function parametersJson(p: ProtocolParameters): JsonValue {
  return {
    ...updateJson(p),
    minUtxoDepositConstant: ada(0n),
    maxReferenceScriptsSize: { bytes: REFERENCE_SCRIPTS_BYTES_MAX },
    version: { major: p.protocolVersion.major, minor: p.protocolVersion.minor },
  };
}

/** Those that are there. */
export function updateJson(p: ParameterUpdate): Fields {
  return {
    minFeeCoefficient: p.feePerByte,
    minFeeConstant: given(p.feeFixed, ada),
    minFeeReferenceScripts: given(p.referenceScriptBytePrice, ({ over, under }) => ({
      base: Number(over) / Number(under),
      ...REFERENCE_SCRIPT_TIER,
    })),
    minUtxoDepositCoefficient: p.lovelacePerUtxoByte,
    maxBlockBodySize: given(p.blockBytesMax, size),
    maxBlockHeaderSize: given(p.headerBytesMax, size),
    maxTransactionSize: given(p.txBytesMax, size),
    maxValueSize: given(p.valueBytesMax, size),
    stakeCredentialDeposit: given(p.stakeKeyDeposit, ada),
    stakePoolDeposit: given(p.poolDeposit, ada),
    stakePoolRetirementEpochBound: p.poolRetirementEpochsMax,
    stakePoolPledgeInfluence: given(p.pledgeInfluence, fraction),
    minStakePoolCost: given(p.poolCostMin, ada),
    desiredNumberOfStakePools: p.poolsWanted,
    monetaryExpansion: given(p.monetaryExpansion, fraction),
    treasuryExpansion: given(p.treasuryShare, fraction),
    collateralPercentage: p.collateralPercent,
    maxCollateralInputs: p.collateralInputsMax,
    plutusCostModels: given(p.costModels, (models) => Object.fromEntries(LANGUAGES.map((name, language) => [name, models.get(language)]))),
    scriptExecutionPrices: pricesJson(p),
    maxExecutionUnitsPerTransaction: given(p.txUnitsMax, units),
    maxExecutionUnitsPerBlock: given(p.blockUnitsMax, units),
    ...governance(p),
  };
}

function governance(p: ParameterUpdate): Fields {
  return {
    stakePoolVotingThresholds: given(p.poolThresholds, poolThresholds),
    delegateRepresentativeVotingThresholds: given(p.drepThresholds, drepThresholds),
    constitutionalCommitteeMinSize: p.committeeSizeMin,
    constitutionalCommitteeMaxTermLength: p.committeeTermMax,
    governanceActionLifetime: p.actionLifetime,
    governanceActionDeposit: given(p.actionDeposit, ada),
    delegateRepresentativeDeposit: given(p.drepDeposit, ada),
    delegateRepresentativeMaxIdleTime: p.drepActivity,
  };
}

function poolThresholds(ratios: readonly Ratio[]): JsonValue {
  const [noConfidence, committee, committeeAfter, hardFork, security] = ratios.map(fraction);
  return {
    noConfidence,
    constitutionalCommittee: { default: committee, stateOfNoConfidence: committeeAfter },
    hardForkInitiation: hardFork,
    protocolParametersUpdate: { security },
  };
}

function drepThresholds(ratios: readonly Ratio[]): JsonValue {
  const [noConfidence, committee, committeeAfter, constitution, hardFork, network, economic, technical, gov, treasury] =
    ratios.map(fraction);
  return {
    noConfidence,
    constitution,
    constitutionalCommittee: { default: committee, stateOfNoConfidence: committeeAfter },
    hardForkInitiation: hardFork,
    protocolParametersUpdate: { network, economic, technical, governance: gov },
    treasuryWithdrawals: treasury,
  };
}

/** Both prices change together. */
function pricesJson({ memoryPrice, stepsPrice }: ParameterUpdate): JsonValue | undefined {
  return memoryPrice === undefined || stepsPrice === undefined ? undefined : { memory: fraction(memoryPrice), cpu: fraction(stepsPrice) };
}

function given<T>(value: T | undefined, write: (value: T) => JsonValue): JsonValue | undefined {
  return value === undefined ? undefined : write(value);
}

export function ada(lovelace: bigint): { readonly ada: { readonly lovelace: bigint } } {
  return { ada: { lovelace } };
}

export function fraction({ over, under }: Ratio): string {
  return `${over}/${under}`;
}

function size(bytes: number | bigint): JsonValue {
  return { bytes };
}

function units({ memory, steps }: ExecutionUnits): JsonValue {
  return { memory, cpu: steps };
}
