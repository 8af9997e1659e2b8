/**
 * The transactions of a Cardano block as wallets take them, from what the block
 * did to the outputs that the store keeps. The store keeps no transactions, so
 * they come without their bytes (`raw` is empty), and with those inputs that
 * spend outputs which the store knew.
 *
 * A transaction whose scripts failed comes as what the chain made of it: its
 * inputs are its collateral, its only output is the collateral's return, at the
 * index that the ledger gives it, behind the outputs that never came to be.
 * Outputs of the genesis come as coinbases: they have no inputs and exist only
 * together with their block.
 */
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { describeStored } from '../../query/cardano/describe-stored.ts';
import type { BlockChanges } from '../../query/changes.ts';
import type { Utxo } from '../../query/utxo.ts';
import { toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { BlockTxs } from '../feed/store-feed.ts';
import type { WalletTx, WalletTxOutput } from '../records.ts';

/** Of the events of a store. Throws as `changedTxs`. */
export const eventTxs: BlockTxs = (event) => changedTxs(event);

/**
 * In the order of the block, genesis outputs first. Throws UNSUPPORTED for a block that removed outputs without a
 * transaction, as those did that began Shelley and Allegra: what nobody spent, no wallet can say to be spent.
 */
export function changedTxs({ txs, created, spent }: Pick<BlockChanges, 'txs' | 'created' | 'spent'>): WalletTx[] {
  const inputs = inputsByTx(spent);
  const outputs = Map.groupBy(created, ({ txId }) => toHex(txId));
  const made = txs.map(({ id, valid }): WalletTx => {
    const key = toHex(id);
    const tx = walletTx(id, inputs.get(key) ?? [], outputs.get(key) ?? []);
    outputs.delete(key);
    return valid ? tx : { ...tx, scriptsFailed: true };
  });
  const genesis = [...outputs.values()].map((utxos) => ({ ...walletTx(utxos[0].txId, [], utxos), isCoinbase: true }));
  return [...genesis, ...made];
}

/** An output with its bytes. */
interface MadeOutput extends Pick<Utxo, 'txId' | 'index'> {
  readonly output: Pick<Utxo['output'], 'raw'>;
}

/** A transaction of which these outputs are known, each at its own index. */
export function walletTx(id: Uint8Array, inputs: readonly Outpoint[], utxos: readonly MadeOutput[]): WalletTx {
  const last = utxos.reduce((max, { index }) => Math.max(max, index), -1);
  const outputs = new Array<WalletTxOutput>(last + 1).fill(NO_OUTPUT);
  for (const utxo of utxos) outputs[utxo.index] = walletOutput(utxo);
  return { id, raw: new Uint8Array(0), inputs, outputs, isCoinbase: false };
}

const NO_OUTPUT: WalletTxOutput = { script: new Uint8Array(0), amount: 0n };

function walletOutput({ txId, index, output }: MadeOutput): WalletTxOutput {
  const { address, lovelace, assets, scriptRef } = describeStored(txId, index, output.raw);
  const held = assets.filter(({ quantity }) => quantity > 0n);
  return {
    script: address,
    amount: lovelace,
    ...(held.length === 0 ? {} : { assets: held }),
    ...(scriptRef === null ? {} : { carriesScript: true }),
  };
}

/** By the id of the spender, in the order of its inputs. */
function inputsByTx(spent: readonly Utxo[]): Map<string, Outpoint[]> {
  const ordered = spent.toSorted((a, b) => (a.spent?.input ?? 0) - (b.spent?.input ?? 0));
  const inputs = new Map<string, Outpoint[]>();
  for (const { txId, index, spent: spend } of ordered) {
    if (!spend?.txId) throw new UnspentError('UNSUPPORTED', 'a block removed outputs without a transaction: wallets cannot follow it');
    const key = toHex(spend.txId);
    const known = inputs.get(key);
    if (known === undefined) inputs.set(key, [{ txId, index }]);
    else known.push({ txId, index });
  }
  return inputs;
}
