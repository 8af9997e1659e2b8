/** Protocol parameters as Ogmios writes them: fractions as text, amounts by their unit. */
import type { ExecutionUnits, ProtocolParameters, Ratio } from '../../../ledgers/cardano/protocol-parameters.ts';
import type { JsonValue } from './json-text.ts';

/** Of the ledger, not among its parameters (Conway, `tierRefScriptFee` and `maxRefScriptSizePerTx`). */
const REFERENCE_SCRIPT_TIER = { range: 25_600, multiplier: 1.2 } as const;
const REFERENCE_SCRIPTS_BYTES_MAX = 204_800;
const LANGUAGES = ['plutus:v1', 'plutus:v2', 'plutus:v3'];

export function parametersJson(p: ProtocolParameters): JsonValue {
  return {
    minFeeCoefficient: p.feePerByte,
    minFeeConstant: ada(p.feeFixed),
    minFeeReferenceScripts: {
      base: Number(p.referenceScriptBytePrice.over) / Number(p.referenceScriptBytePrice.under),
      ...REFERENCE_SCRIPT_TIER,
    },
    minUtxoDepositCoefficient: p.lovelacePerUtxoByte,
    minUtxoDepositConstant: ada(0n),
    maxBlockBodySize: { bytes: p.blockBytesMax },
    maxBlockHeaderSize: { bytes: p.headerBytesMax },
    maxTransactionSize: { bytes: p.txBytesMax },
    maxValueSize: { bytes: p.valueBytesMax },
    maxReferenceScriptsSize: { bytes: REFERENCE_SCRIPTS_BYTES_MAX },
    stakeCredentialDeposit: ada(p.stakeKeyDeposit),
    stakePoolDeposit: ada(p.poolDeposit),
    stakePoolRetirementEpochBound: p.poolRetirementEpochsMax,
    stakePoolPledgeInfluence: fraction(p.pledgeInfluence),
    minStakePoolCost: ada(p.poolCostMin),
    desiredNumberOfStakePools: p.poolsWanted,
    monetaryExpansion: fraction(p.monetaryExpansion),
    treasuryExpansion: fraction(p.treasuryShare),
    collateralPercentage: p.collateralPercent,
    maxCollateralInputs: p.collateralInputsMax,
    plutusCostModels: Object.fromEntries(LANGUAGES.map((name, language) => [name, p.costModels.get(language)])),
    scriptExecutionPrices: { memory: fraction(p.memoryPrice), cpu: fraction(p.stepsPrice) },
    maxExecutionUnitsPerTransaction: units(p.txUnitsMax),
    maxExecutionUnitsPerBlock: units(p.blockUnitsMax),
    ...governance(p),
    version: { major: p.protocolVersion.major, minor: p.protocolVersion.minor },
  };
}

function governance(p: ProtocolParameters): Readonly<Record<string, JsonValue>> {
  const [poolNoConfidence, poolCommittee, poolCommitteeAfter, poolHardFork, poolSecurity] = p.poolThresholds.map(fraction);
  const [noConfidence, committee, committeeAfter, constitution, hardFork, network, economic, technical, gov, treasury] =
    p.drepThresholds.map(fraction);
  return {
    stakePoolVotingThresholds: {
      noConfidence: poolNoConfidence,
      constitutionalCommittee: { default: poolCommittee, stateOfNoConfidence: poolCommitteeAfter },
      hardForkInitiation: poolHardFork,
      protocolParametersUpdate: { security: poolSecurity },
    },
    delegateRepresentativeVotingThresholds: {
      noConfidence,
      constitution,
      constitutionalCommittee: { default: committee, stateOfNoConfidence: committeeAfter },
      hardForkInitiation: hardFork,
      protocolParametersUpdate: { network, economic, technical, governance: gov },
      treasuryWithdrawals: treasury,
    },
    constitutionalCommitteeMinSize: p.committeeSizeMin,
    constitutionalCommitteeMaxTermLength: p.committeeTermMax,
    governanceActionLifetime: p.actionLifetime,
    governanceActionDeposit: ada(p.actionDeposit),
    delegateRepresentativeDeposit: ada(p.drepDeposit),
    delegateRepresentativeMaxIdleTime: p.drepActivity,
  };
}

export function ada(lovelace: bigint): { readonly ada: { readonly lovelace: bigint } } {
  return { ada: { lovelace } };
}

export function fraction({ over, under }: Ratio): string {
  return `${over}/${under}`;
}

function units({ memory, steps }: ExecutionUnits): JsonValue {
  return { memory, cpu: steps };
}
