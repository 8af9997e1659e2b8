/** Patterns of transactions, for whoever watches the chain or the mempool. */
import type { cardano } from '@utxorpc/spec/lib/index.mjs';
import type { OutputTraits } from '../../../../ledgers/ledger.ts';
import type { ResolvedContent } from '../../../../query/cardano/transactions.ts';
import type { Utxo } from '../../../../query/utxo.ts';
import { concatBytes, equalBytes } from '../../../../util/bytes.ts';
import { matchesOutput } from './predicate.ts';

/** What `match` of a predicate holds, whichever service it is of. */
export interface AnyTxPattern {
  readonly chain: { readonly case: 'cardano'; readonly value: cardano.TxPattern } | { readonly case: undefined };
}

/** Every part of the pattern that is there must match. What a transaction spends is known only for as long as the store knows it. Throws USAGE. */
export function matchesTx({ chain }: AnyTxPattern, tx: ResolvedContent, traits: OutputTraits): boolean {
  if (chain.case === undefined) return true;
  const { consumes, produces, hasAddress, movesAsset, mintsAsset } = chain.value;
  const spent = (tx.valid ? tx.inputs : tx.collateral).flatMap(({ utxo }) => utxo ?? []);
  const has = (utxos: readonly Utxo[], pattern: Partial<cardano.TxOutputPattern>): boolean =>
    utxos.some((utxo) => matchesOutput(pattern, utxo, traits));
  return (
    (consumes === undefined || has(spent, consumes)) &&
    (produces === undefined || has(tx.outputs, produces)) &&
    (hasAddress === undefined || has([...spent, ...tx.outputs], { address: hasAddress })) &&
    (movesAsset === undefined || has([...spent, ...tx.outputs], { asset: movesAsset })) &&
    (mintsAsset === undefined || mints(tx, mintsAsset))
  );
}

function mints({ body }: ResolvedContent, { policyId, assetName }: cardano.AssetPattern): boolean {
  return body.mint.some(({ policy, name }) => {
    if (policyId.length > 0 && !equalBytes(policy, policyId)) return false;
    if (assetName.length === 0 || equalBytes(name, assetName)) return true;
    return policyId.length === 0 && equalBytes(concatBytes(policy, name), assetName);
  });
}
