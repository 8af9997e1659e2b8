/**
 * Stake accounts: whom they delegate to and what they have earned, from the node
 * that is followed; what is at their addresses, from the index of stake
 * credentials. Sums over all that an account ever earned are kept by neither, and
 * are null.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { drepId, poolIdOfHash } from '../../../ledgers/cardano/bech32-ids.ts';
import { formatAddress, rewardAddress } from '../../../ledgers/cardano/index.ts';
import type { StakeAccount } from '../../../ledgers/cardano/stake-accounts.ts';
import { describeStored } from '../../../query/cardano/describe-stored.ts';
import type { Query } from '../../../query/query.ts';
import type { Balance } from '../../../query/view.ts';
import { UnspentError } from '../../../util/errors.ts';
import { BALANCE_ASSETS_MAX } from '../../../util/limits.ts';
import { askStakeAccounts } from '../stake-accounts.ts';
import { type BlockfrostAnswers, notFound } from './answer.ts';
import { balanceOf } from './balance.ts';
import { parseStakeAddress } from './holder.ts';
import { amountsOf } from './output-json.ts';
import { cutPage, readPage } from './page.ts';

export function registerAccounts(app: FastifyInstance, answers: BlockfrostAnswers): void {
  const { network, context } = answers;
  app.get('/accounts/:stake', async (request, reply) => {
    const credential = stakeOf(request, answers);
    const [account] = await askStakeAccounts(context, [credential]);
    const address = formatAddress(rewardAddress(credential, network.addressNetworkId));
    if (account === undefined) throw notFound(`${address} is not registered`);
    const lease = context.reads.lease();
    try {
      const held = await balanceOf(lease.query, answers, { kind: 'stake', key: credential.hash }, request.task);
      return answers.send(reply, accountJson(address, account, held.value));
    } finally {
      lease.release();
    }
  });

  app.get('/accounts/:stake/addresses', (request, reply) => {
    const { hash } = stakeOf(request, answers);
    const page = readPage(request);
    answers.give(request, reply, (query) =>
      addressesOf(query, hash, request, (addresses) => cutPage(addresses, page).map((address) => ({ address }))),
    );
  });

  app.get('/accounts/:stake/addresses/assets', (request, reply) => {
    const { hash } = stakeOf(request, answers);
    const page = readPage(request);
    // Lovelace comes first, and is no asset.
    const assetsIn = ({ value, assets }: Balance): object => cutPage(amountsOf(value, assets).slice(1), page);
    answers.give(request, reply, (query) => {
      const balance = balanceOf(query, answers, { kind: 'stake', key: hash }, request.task);
      return balance instanceof Promise ? balance.then(assetsIn) : assetsIn(balance);
    });
  });
}

function stakeOf({ params }: FastifyRequest, { network }: BlockfrostAnswers): ReturnType<typeof parseStakeAddress> {
  return parseStakeAddress((params as { readonly stake: string }).stake, network);
}

function accountJson(address: string, { pool, drep, rewards }: StakeAccount, held: bigint): object {
  return {
    stake_address: address,
    active: pool !== null,
    registered: true,
    active_epoch: null,
    controlled_amount: (held + rewards).toString(),
    rewards_sum: null,
    withdrawals_sum: null,
    reserves_sum: null,
    treasury_sum: null,
    withdrawable_amount: rewards.toString(),
    pool_id: pool === null ? null : poolIdOfHash(pool),
    drep_id: drep === null ? null : drepId(drep),
  };
}

/** Those that hold something, in the order in which the oldest of their unspent outputs came. Throws LIMIT. */
function addressesOf<T>(query: Query, stake: Uint8Array, { task }: FastifyRequest, result: (addresses: string[]) => T): T | Promise<T> {
  const addresses = new Set<string>();
  return task.inSlices(
    query.byKey('stake', stake),
    ({ txId, index, output }) => {
      const address = formatAddress(describeStored(txId, index, output.raw).address);
      if (!addresses.has(address)) task.hold(address.length);
      addresses.add(address);
      if (addresses.size > BALANCE_ASSETS_MAX) throw new UnspentError('LIMIT', `there are more than ${BALANCE_ASSETS_MAX} of them`);
      return true;
    },
    () => result([...addresses]),
  );
}
