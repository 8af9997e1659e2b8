/** Protocol parameters as UTxO RPC writes them. */
import type { cardano } from '@utxorpc/spec/lib/index.mjs';
import type { ParameterUpdate, Ratio } from '../../../../ledgers/cardano/protocol-parameters.ts';
import type { MessageInit } from './message-init.ts';
import { uint32 } from './numbers.ts';

type FractionWriter = (ratio: Ratio) => MessageInit<cardano.RationalNumber>;

/** Those that are there. `fraction`: how one is written that the messages cannot hold; what it throws is thrown. */
export function parametersMessage(p: ParameterUpdate, fraction: FractionWriter): MessageInit<cardano.PParams> {
  const ratio = (value: Ratio | undefined) => (value === undefined ? undefined : fraction(value));
  const [v1, v2, v3] = [0, 1, 2].map((language) => p.costModels?.get(language));
  return {
    coinsPerUtxoByte: p.lovelacePerUtxoByte,
    maxTxSize: wide(p.txBytesMax),
    minFeeCoefficient: p.feePerByte,
    minFeeConstant: p.feeFixed,
    maxBlockBodySize: wide(p.blockBytesMax),
    maxBlockHeaderSize: wide(p.headerBytesMax),
    stakeKeyDeposit: p.stakeKeyDeposit,
    poolDeposit: p.poolDeposit,
    poolRetirementEpochBound: wide(p.poolRetirementEpochsMax),
    desiredNumberOfPools: wide(p.poolsWanted),
    poolInfluence: ratio(p.pledgeInfluence),
    monetaryExpansion: ratio(p.monetaryExpansion),
    treasuryExpansion: ratio(p.treasuryShare),
    minPoolCost: p.poolCostMin,
    protocolVersion: p.protocolVersion,
    maxValueSize: wide(p.valueBytesMax),
    collateralPercentage: p.collateralPercent,
    maxCollateralInputs: wide(p.collateralInputsMax),
    costModels: p.costModels && { plutusV1: modelMessage(v1), plutusV2: modelMessage(v2), plutusV3: modelMessage(v3) },
    prices: p.stepsPrice && { steps: ratio(p.stepsPrice), memory: ratio(p.memoryPrice) },
    maxExecutionUnitsPerTransaction: p.txUnitsMax,
    maxExecutionUnitsPerBlock: p.blockUnitsMax,
    minFeeScriptRefCostPerByte: ratio(p.referenceScriptBytePrice),
    poolVotingThresholds: thresholds(p.poolThresholds, fraction),
    drepVotingThresholds: thresholds(p.drepThresholds, fraction),
    minCommitteeSize: p.committeeSizeMin === undefined ? undefined : uint32(p.committeeSizeMin),
    committeeTermLimit: wide(p.committeeTermMax),
    governanceActionValidityPeriod: wide(p.actionLifetime),
    governanceActionDeposit: p.actionDeposit,
    drepDeposit: p.drepDeposit,
    drepInactivityPeriod: wide(p.drepActivity),
  };
}

function modelMessage(values: readonly bigint[] | undefined): MessageInit<cardano.CostModel> | undefined {
  return values === undefined ? undefined : { values };
}

function thresholds(ratios: readonly Ratio[] | undefined, fraction: FractionWriter): MessageInit<cardano.VotingThresholds> | undefined {
  return ratios === undefined ? undefined : { thresholds: ratios.map(fraction) };
}

function wide(value: number | bigint | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}
