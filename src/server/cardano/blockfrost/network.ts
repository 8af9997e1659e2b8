/**
 * The network: what it was made with, and how its lovelace is spread, as far as
 * the node that is followed says it (treasury and reserves). What takes the stake
 * of everybody, or all that is locked in scripts, is null.
 */
import type { FastifyInstance } from 'fastify';
import { askPots } from '../stake-accounts.ts';
import type { BlockfrostAnswers } from './answer.ts';

/** Of mainnet, preprod and preview alike: in their genesis files, which a store does not keep. */
const PUBLIC_GENESIS = {
  active_slots_coefficient: 0.05,
  update_quorum: 5,
  max_lovelace_supply: '45000000000000000',
  slots_per_kes_period: 129_600,
  max_kes_evolutions: 62,
} as const;

type GenesisFields = Readonly<Record<keyof typeof PUBLIC_GENESIS, string | number | null>>;

export function registerNetwork(app: FastifyInstance, answers: BlockfrostAnswers): void {
  app.get('/genesis', (_request, reply) => answers.send(reply, genesisJson(answers)));
  app.get('/network', async (_request, reply) => answers.send(reply, await networkJson(answers)));
}

function genesisJson(answers: BlockfrostAnswers): object {
  const { network } = answers;
  return {
    ...genesisFields(answers),
    network_magic: network.magic,
    epoch_length: network.shelleyEpochSlots,
    system_start: Math.floor(network.systemStart),
    slot_length: network.shelleySlotMs / 1000,
    security_param: network.k,
  };
}

/** Throws UNSUPPORTED where no node is followed that says it, SOURCE_UNREACHABLE. */
async function networkJson(answers: BlockfrostAnswers): Promise<object> {
  const { treasury, reserves } = await askPots(answers.context);
  const { max_lovelace_supply: max } = genesisFields(answers);
  return {
    supply: {
      max,
      total: max === null ? null : (BigInt(max) - reserves).toString(),
      circulating: null,
      locked: null,
      treasury: treasury.toString(),
      reserves: reserves.toString(),
    },
    stake: { live: null, active: null },
  };
}

/** A private network has a genesis of its own, of which only the clock is kept. */
function genesisFields({ context }: BlockfrostAnswers): GenesisFields {
  const isPublic = context.network.family.ownParameters(context.network) === null;
  if (isPublic) return PUBLIC_GENESIS;
  return {
    active_slots_coefficient: null,
    update_quorum: null,
    max_lovelace_supply: null,
    slots_per_kes_period: null,
    max_kes_evolutions: null,
  };
}
