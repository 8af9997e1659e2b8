/**
 * A devnet's ledger and mempool for a follower in the same process: what its
 * node would answer over a local socket, without one.
 */
import { readAddress } from '../../../ledgers/cardano/address.ts';
import { credentialKey, type StakeAccountAnswers, writePots, writeStakeAccounts } from '../../../ledgers/cardano/stake-accounts.ts';
import { mempoolDifference } from '../../../sources/mempool-difference.ts';
import type { LedgerAnswers, LedgerFeed, LedgerQuestion, MempoolFeed } from '../../../sources/source.ts';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { LedgerView } from '../responder/chain.ts';
import { encodeEraHistory, encodeSystemStart } from '../responder/history.ts';
import type { LiveDevnet } from './live.ts';

/** Blocks count eras from 0 with two tags for Byron, answers with one. */
const SECOND_BYRON_TAG = 1;

export function devnetLedger(devnet: LiveDevnet): LedgerFeed {
  return {
    async answers({ accounts = [], pots = false }: LedgerQuestion = {}): Promise<LedgerAnswers> {
      const view = devnet.view({ at: 'volatileTip' });
      if (typeof view === 'string') throw new UnspentError('POINT_UNKNOWN', 'the devnet has no block yet');
      try {
        const parameters = view.parameters?.() ?? null;
        if (parameters === null) throw new UnspentError('UNSUPPORTED', 'the devnet is not in the Conway era yet');
        const eraHistory = encodeEraHistory(devnet.network, view.era - SECOND_BYRON_TAG);
        return {
          parameters,
          systemStart: encodeSystemStart(devnet.network),
          eraHistory,
          ...(accounts.length > 0 ? { accounts: accountAnswers(view, accounts) } : {}),
          ...(pots && view.pots !== undefined ? { pots: writePots(view.pots()) } : {}),
        };
      } finally {
        view.release();
      }
    },
    async submit(raw): Promise<Uint8Array> {
      const verdict = devnet.submit(raw);
      if (verdict.accepted) return verdict.id;
      throw new UnspentError('TX_REFUSED', `the devnet did not take the transaction: ${verdict.reason}`, { reason: verdict.reason });
    },
  };
}

/** What waits for the devnet's next block, told as it changes. */
export function devnetMempool(devnet: LiveDevnet): MempoolFeed {
  return {
    watch(listener) {
      let told: ReadonlySet<string> = new Set();
      const look = (): void => {
        const present = new Map(devnet.pending().map(({ id, tx }) => [toHex(id), tx]));
        const changes = mempoolDifference(told, present, (devnet.tip.point?.slot ?? -1) + 1);
        told = new Set(present.keys());
        for (const change of changes) listener(change);
      };
      look();
      return devnet.onChange(look);
    },
    submit: devnetLedger(devnet).submit,
  };
}

function accountAnswers(view: LedgerView, rewardAddresses: readonly Uint8Array[]): StakeAccountAnswers {
  const accounts = view.accounts?.();
  const found = rewardAddresses.flatMap((address) => {
    const { stake } = readAddress(address);
    return stake === null ? [] : (accounts?.get(credentialKey(stake)) ?? []);
  });
  return writeStakeAccounts(found);
}
