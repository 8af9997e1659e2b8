/**
 * What a history should say, worked out from the devnet's own account of its
 * chain, which never reads a block: the transactions of each owner in order, what
 * each spent and made, and who spent it.
 */
import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import { KEY_KINDS, type KeyKind } from '../../src/ledgers/ledger.ts';
import { toHex } from '../../src/util/bytes.ts';
import { keysOf } from './expected.ts';
import type { Devnet } from './harness.ts';

export interface ModelTx {
  readonly id: string;
  readonly height: number;
  readonly slot: number;
  readonly blockHash: string;
  readonly txIndex: number;
  readonly valid: boolean;
  readonly spends: readonly ModelUtxo[];
  readonly creates: readonly ModelUtxo[];
}

/** The transactions of the present chain, in its order. */
export function modelTxs({ chain }: Devnet): ModelTx[] {
  return chain.blocks.flatMap(({ height, slot, hash, txs }) =>
    txs.map(({ id, valid, spends, creates }, txIndex) => ({ id, height, slot, blockHash: toHex(hash), txIndex, valid, spends, creates })),
  );
}

/** Ids of the transactions that paid to an owner or spent from it, by kind and key in hex. */
export function modelOwners(devnet: Devnet, fromHeight = 0): ReadonlyMap<KeyKind, ReadonlyMap<string, readonly string[]>> {
  const owners = new Map(KEY_KINDS.map((kind) => [kind, new Map<string, string[]>()]));
  for (const { id, height, spends, creates } of modelTxs(devnet)) {
    if (height < fromHeight) continue;
    for (const kind of KEY_KINDS) {
      const touched = new Set([...spends, ...creates].flatMap((utxo) => keysOf(utxo)[kind] ?? []).map((key) => toHex(key)));
      const ids = owners.get(kind)!;
      for (const key of touched) ids.set(key, [...(ids.get(key) ?? []), id]);
    }
  }
  return owners;
}

export interface ModelOutput {
  readonly utxo: ModelUtxo;
  /** `txid#input`; null: unspent; `ledger`: removed without a transaction. */
  readonly spent: string | null;
}

/** Every output there ever was, in the order of the chain: first what genesis granted. */
export function modelOutputs({ chain, genesis }: Devnet): ModelOutput[] {
  const made = [...genesis, ...chain.blocks.flatMap(({ txs }) => txs.flatMap(({ creates }) => creates))];
  return made.map((utxo) => {
    const spender = chain.spentBy(utxo.key);
    if (spender !== undefined) return { utxo, spent: `${spender.txId}#${spender.inputIndex}` };
    return { utxo, spent: chain.utxos.has(utxo.key) ? null : 'ledger' };
  });
}
