/** Outputs as UTxO RPC writes them: address, amounts, datum and script, with the bytes of the chain beside. */
import type { cardano, query } from '@utxorpc/spec/lib/index.mjs';
import { blake2b256 } from '../../../../crypto/hash.ts';
import type { Asset } from '../../../../ledgers/asset.ts';
import { readScriptRef } from '../../../../ledgers/cardano/describe.ts';
import type { DescribedOutput } from '../../../../ledgers/cardano/index.ts';
import { describeStored } from '../../../../query/cardano/describe-stored.ts';
import type { Utxo } from '../../../../query/utxo.ts';
import { toHex } from '../../../../util/bytes.ts';
import type { MessageInit } from './message-init.ts';
import { dataMessage, scriptMessage } from './plutus-message.ts';

export function utxoMessage({ txId, index, output: { raw } }: Utxo): MessageInit<query.AnyUtxoData> {
  return {
    nativeBytes: raw,
    txoRef: { hash: txId, index },
    parsedState: { case: 'cardano', value: outputMessage(describeStored(txId, index, raw)) },
  };
}

export function outputMessage(output: DescribedOutput): MessageInit<cardano.TxOutput> {
  const { address, lovelace, assets, scriptRef } = output;
  // Outputs before Conway may name assets of which they have none, which the ledger does not count.
  const held = assets.filter(({ quantity }) => quantity !== 0n);
  return {
    address,
    coin: lovelace,
    assets: byPolicy(held).map(([policyId, own]) => ({
      policyId,
      assets: own.map(({ name, quantity }) => ({ name, outputCoin: quantity })),
    })),
    datum: datumMessage(output),
    script: scriptRef === null ? undefined : scriptMessage(readScriptRef(scriptRef)),
  };
}

/** Clients take an output with the bytes of a datum for one that has it inline, so that a datum by hash is its hash alone. */
function datumMessage({ datumHash, inlineDatum }: DescribedOutput): MessageInit<cardano.Datum> | undefined {
  if (inlineDatum !== null) return { hash: blake2b256(inlineDatum), payload: dataMessage(inlineDatum), originalCbor: inlineDatum };
  return datumHash === null ? undefined : { hash: datumHash };
}

/** In the order in which each policy comes first. */
export function byPolicy(assets: readonly Asset[]): (readonly [policy: Uint8Array, assets: readonly Asset[]])[] {
  return [...Map.groupBy(assets, ({ policy }) => toHex(policy)).values()].map((own) => [own[0].policy, own]);
}
