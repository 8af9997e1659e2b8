/** Protocol parameters as UTxO RPC writes them. */
import type { cardano } from '@utxorpc/spec/lib/index.mjs';
import type { ExecutionUnits, ProtocolParameters, Ratio } from '../../../../ledgers/cardano/protocol-parameters.ts';
import { UnspentError } from '../../../../util/errors.ts';
import type { MessageInit } from './message-init.ts';

const NUMERATOR_MAX = 2n ** 31n - 1n;
const DENOMINATOR_MAX = 2n ** 32n - 1n;

/** Throws UNSUPPORTED for a fraction that the messages cannot hold. */
export function parametersMessage(p: ProtocolParameters): MessageInit<cardano.PParams> {
  const [v1, v2, v3] = [0, 1, 2].map((language) => p.costModels.get(language));
  return {
    coinsPerUtxoByte: p.lovelacePerUtxoByte,
    maxTxSize: BigInt(p.txBytesMax),
    minFeeCoefficient: p.feePerByte,
    minFeeConstant: p.feeFixed,
    maxBlockBodySize: BigInt(p.blockBytesMax),
    maxBlockHeaderSize: BigInt(p.headerBytesMax),
    stakeKeyDeposit: p.stakeKeyDeposit,
    poolDeposit: p.poolDeposit,
    poolRetirementEpochBound: BigInt(p.poolRetirementEpochsMax),
    desiredNumberOfPools: BigInt(p.poolsWanted),
    poolInfluence: fractionMessage(p.pledgeInfluence),
    monetaryExpansion: fractionMessage(p.monetaryExpansion),
    treasuryExpansion: fractionMessage(p.treasuryShare),
    minPoolCost: p.poolCostMin,
    protocolVersion: { major: p.protocolVersion.major, minor: p.protocolVersion.minor },
    maxValueSize: BigInt(p.valueBytesMax),
    collateralPercentage: p.collateralPercent,
    maxCollateralInputs: BigInt(p.collateralInputsMax),
    costModels: {
      plutusV1: modelMessage(v1),
      plutusV2: modelMessage(v2),
      plutusV3: modelMessage(v3),
    },
    prices: { steps: fractionMessage(p.stepsPrice), memory: fractionMessage(p.memoryPrice) },
    maxExecutionUnitsPerTransaction: unitsMessage(p.txUnitsMax),
    maxExecutionUnitsPerBlock: unitsMessage(p.blockUnitsMax),
    minFeeScriptRefCostPerByte: fractionMessage(p.referenceScriptBytePrice),
    poolVotingThresholds: { thresholds: p.poolThresholds.map(fractionMessage) },
    drepVotingThresholds: { thresholds: p.drepThresholds.map(fractionMessage) },
    minCommitteeSize: p.committeeSizeMin,
    committeeTermLimit: BigInt(p.committeeTermMax),
    governanceActionValidityPeriod: BigInt(p.actionLifetime),
    governanceActionDeposit: p.actionDeposit,
    drepDeposit: p.drepDeposit,
    drepInactivityPeriod: BigInt(p.drepActivity),
  };
}

function modelMessage(values: readonly bigint[] | undefined): MessageInit<cardano.CostModel> | undefined {
  return values === undefined ? undefined : { values };
}

export function unitsMessage({ memory, steps }: ExecutionUnits): MessageInit<cardano.ExUnits> {
  return { memory, steps };
}

/** Throws UNSUPPORTED where its numbers, without common factors, are wider than those of the message. */
export function fractionMessage({ over, under }: Ratio): MessageInit<cardano.RationalNumber> {
  const common = commonFactor(over, under);
  const [numerator, denominator] = [over / common, under / common];
  if (numerator > NUMERATOR_MAX || denominator > DENOMINATOR_MAX)
    throw new UnspentError('UNSUPPORTED', `UTxO RPC has no room for the fraction ${over}/${under}`);
  return { numerator: Number(numerator), denominator: Number(denominator) };
}

/** As near to it as the numbers of the message allow, for what anybody may write into a transaction: its bytes have it exactly. */
export function roundedFraction({ over, under }: Ratio): MessageInit<cardano.RationalNumber> {
  const common = commonFactor(over, under);
  let [numerator, denominator] = [over / common, under / common];
  while (numerator > NUMERATOR_MAX || denominator > DENOMINATOR_MAX) [numerator, denominator] = [numerator / 2n, denominator / 2n];
  return { numerator: Number(numerator), denominator: Math.max(1, Number(denominator)) };
}

function commonFactor(a: bigint, b: bigint): bigint {
  return b === 0n ? a || 1n : commonFactor(b, a % b);
}
