/**
 * Protocol parameters, as the node that is followed says them: only it knows
 * them, and only those of now. The tables of cost models by name, which are of
 * the node's version, are not made up: `cost_models_raw` has their numbers.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { decodeProtocolParameters, type ProtocolParameters, type Ratio } from '../../../ledgers/cardano/protocol-parameters.ts';
import { type BlockfrostAnswers, notKept } from './answer.ts';
import { latestEpoch, numberOf } from './blocks.ts';

const POOL_THRESHOLD_NAMES = [
  'pvt_motion_no_confidence',
  'pvt_committee_normal',
  'pvt_committee_no_confidence',
  'pvt_hard_fork_initiation',
  'pvt_p_p_security_group',
] as const;

const DREP_THRESHOLD_NAMES = [
  'dvt_motion_no_confidence',
  'dvt_committee_normal',
  'dvt_committee_no_confidence',
  'dvt_update_to_constitution',
  'dvt_hard_fork_initiation',
  'dvt_p_p_network_group',
  'dvt_p_p_economic_group',
  'dvt_p_p_technical_group',
  'dvt_p_p_gov_group',
  'dvt_treasury_withdrawal',
] as const;

export function registerParameters(app: FastifyInstance, answers: BlockfrostAnswers): void {
  app.get('/epochs/latest/parameters', (_request, reply) => giveParameters(reply, answers, null));
  app.get('/epochs/:epoch/parameters', (request, reply) => {
    return giveParameters(reply, answers, numberOf((request.params as { readonly epoch: string }).epoch, 'epoch'));
  });
}

/** Throws UNSUPPORTED where no node is followed that says them, or for another epoch than that of now. */
async function giveParameters(reply: FastifyReply, answers: BlockfrostAnswers, asked: number | null): Promise<FastifyReply> {
  const { reads } = answers.context;
  const lease = reads.lease();
  let epoch: number;
  try {
    epoch = latestEpoch(lease.query, answers);
  } finally {
    lease.release();
  }
  if (asked !== null && asked !== epoch) throw notKept(`protocol parameters are known of epoch ${epoch} only, which is that of now`);
  const parameters = decodeProtocolParameters((await answers.context.ledger()).parameters);
  return answers.send(reply, parametersJson(parameters, epoch));
}

function parametersJson(p: ProtocolParameters, epoch: number): object {
  const thresholds = (names: readonly string[], ratios: readonly Ratio[]): object =>
    Object.fromEntries(names.map((name, i) => [name, decimal(ratios[i])]));
  return {
    epoch,
    min_fee_a: Number(p.feePerByte),
    min_fee_b: Number(p.feeFixed),
    max_block_size: p.blockBytesMax,
    max_tx_size: p.txBytesMax,
    max_block_header_size: p.headerBytesMax,
    key_deposit: `${p.stakeKeyDeposit}`,
    pool_deposit: `${p.poolDeposit}`,
    e_max: p.poolRetirementEpochsMax,
    n_opt: p.poolsWanted,
    a0: decimal(p.pledgeInfluence),
    rho: decimal(p.monetaryExpansion),
    tau: decimal(p.treasuryShare),
    decentralisation_param: 0,
    extra_entropy: null,
    protocol_major_ver: p.protocolVersion.major,
    protocol_minor_ver: p.protocolVersion.minor,
    min_utxo: `${p.lovelacePerUtxoByte}`,
    min_pool_cost: `${p.poolCostMin}`,
    nonce: null,
    // Names of costs are not in the ledger: they are numbered, as some clients have them.
    cost_models: byLanguage(p, (model) => ({ ...model })),
    cost_models_raw: byLanguage(p, (model) => model),
    price_mem: decimal(p.memoryPrice),
    price_step: decimal(p.stepsPrice),
    max_tx_ex_mem: `${p.txUnitsMax.memory}`,
    max_tx_ex_steps: `${p.txUnitsMax.steps}`,
    max_block_ex_mem: `${p.blockUnitsMax.memory}`,
    max_block_ex_steps: `${p.blockUnitsMax.steps}`,
    max_val_size: `${p.valueBytesMax}`,
    collateral_percent: Number(p.collateralPercent),
    max_collateral_inputs: p.collateralInputsMax,
    coins_per_utxo_size: `${p.lovelacePerUtxoByte}`,
    // The old name has the price of a byte too, not that of a word: clients read either.
    coins_per_utxo_word: `${p.lovelacePerUtxoByte}`,
    ...thresholds(POOL_THRESHOLD_NAMES, p.poolThresholds),
    ...thresholds(DREP_THRESHOLD_NAMES, p.drepThresholds),
    pvtpp_security_group: decimal(p.poolThresholds[POOL_THRESHOLD_NAMES.indexOf('pvt_p_p_security_group')]),
    committee_min_size: `${p.committeeSizeMin}`,
    committee_max_term_length: `${p.committeeTermMax}`,
    gov_action_lifetime: `${p.actionLifetime}`,
    gov_action_deposit: `${p.actionDeposit}`,
    drep_deposit: `${p.drepDeposit}`,
    drep_activity: `${p.drepActivity}`,
    min_fee_ref_script_cost_per_byte: decimal(p.referenceScriptBytePrice),
  };
}

function byLanguage({ costModels }: ProtocolParameters, write: (model: readonly number[]) => object): object {
  return Object.fromEntries([...costModels].map(([language, model]) => [`PlutusV${language + 1}`, write(model.map(Number))]));
}

function decimal({ over, under }: Ratio): number {
  return Number(over) / Number(under);
}
