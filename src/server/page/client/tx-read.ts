/**
 * Reads a transaction from where the store has the most of it: from the history
 * in the words of its family, and without one from what the block did, for as
 * long as that is known. What cannot be told is said, with the setting that
 * would keep it.
 */
import { type Answer, get, getEsplora, Problem, problem, travel } from './api.ts';
import { chain } from './parts.ts';
import type { Changes, Utxo } from './shapes.ts';
import type { EsploraOutput, EsploraSpend, EsploraStatus, EsploraTx, Input, Named, ShownTx, Transaction } from './tx-shapes.ts';

/** Bytes of weight in a virtual byte (BIP141). */
const WEIGHT_SCALE = 4;
const NO_HISTORY =
  'Fee, size and what it gives to scripts are not kept by this store. A store with utxo.history = true keeps every transaction.';

/** Throws `Problem`. */
export async function readTx(tx: string): Promise<ShownTx> {
  return asOf(await readNow(tx), travel.height);
}

export function notThereYet(height: number, what: string): Problem {
  return new Problem(404, 'Not there yet.', `At block ${height} this ${what}.`, 'Move the slider to a later block.');
}

/** As it was at a block: what was spent later was unspent then. Throws `Problem` where it was not there yet. */
function asOf(tx: ShownTx, height: number | null): ShownTx {
  if (height === null) return tx;
  const { place, outputs } = tx;
  if (place === null || place.height > height) throw notThereYet(height, 'transaction was in no block');
  const then = (row: Utxo): Utxo => {
    if (row.spent_at_slot === undefined || (row.spent_at_block ?? 0) <= height) return row;
    const { spent_at_slot: _, spent_tx_hash: __, spent_at_block: ___, spent_at_block_hash: ____, ...unspent } = row;
    return unspent;
  };
  return { ...tx, outputs: outputs.map(then), place: { ...place, confirmations: height - place.height + 1 } };
}

async function readNow(tx: string): Promise<ShownTx> {
  if (!chain.projections.includes('history')) {
    const isWaiting = chain.hasEsplora && (await isInMempool(tx));
    return isWaiting ? ofBitcoin(tx) : withoutHistory(tx, null);
  }
  try {
    return chain.hasEsplora ? await ofBitcoin(tx) : ofCardano(await get<Transaction>(`/txs/${encodeURIComponent(tx)}`));
  } catch (error) {
    const why = problem(error);
    if (why.code !== 'PRUNED') throw why;
    return withoutHistory(tx, why);
  }
}

async function isInMempool(tx: string): Promise<boolean> {
  return (
    !(await getEsplora<EsploraStatus>(`/tx/${encodeURIComponent(tx)}/status`)).body.confirmed &&
    (await getEsplora<string[]>('/mempool/txids')).body.includes(tx)
  );
}

function ofCardano({ body: tx, height }: Answer<Transaction>): ShownTx {
  return {
    hash: tx.tx_hash,
    place: {
      height: tx.block,
      hash: tx.block_hash,
      slot: tx.slot,
      epoch: tx.epoch,
      time: tx.block_time,
      confirmations: confirmations(tx.block, height),
    },
    valid: tx.valid,
    size: tx.size,
    virtualSize: null,
    fee: tx.fee === undefined ? null : BigInt(tx.fee),
    isCoinbase: false,
    inputs: tx.valid ? tx.inputs : (tx.collateral_inputs ?? []),
    outputs: tx.outputs,
    whole: tx,
    esplora: null,
    missing: null,
  };
}

async function ofBitcoin(hash: string): Promise<ShownTx> {
  const path = `/tx/${encodeURIComponent(hash)}`;
  const [{ body: tx, height: tip }, { body: spends }] = await Promise.all([
    getEsplora<EsploraTx>(path),
    getEsplora<EsploraSpend[]>(`${path}/outspends`),
  ]);
  const { status } = tx;
  const isCoinbase = tx.vin.some((input) => input.is_coinbase);
  return {
    hash: tx.txid,
    place:
      status.block_height === undefined
        ? null
        : {
            height: status.block_height,
            hash: status.block_hash,
            slot: status.block_height,
            epoch: undefined,
            time: status.block_time ?? null,
            confirmations: confirmations(status.block_height, tip),
          },
    valid: true,
    size: tx.size,
    virtualSize: Math.ceil(tx.weight / WEIGHT_SCALE),
    fee: tx.fee === null || isCoinbase ? null : BigInt(tx.fee),
    isCoinbase,
    inputs: tx.vin.filter((input) => !input.is_coinbase).map(({ txid, vout, prevout }) => inputOf(txid, vout, prevout)),
    outputs: tx.vout.map((output, i) => ({ ...outputOf(tx.txid, i, output), ...spentBy(spends[i]), is_coinbase: isCoinbase })),
    whole: null,
    esplora: tx,
    missing: null,
  };
}

function inputOf(tx: string, index: number, output: EsploraOutput | null): Input {
  return output === null ? { tx_hash: tx, output_index: index } : outputOf(tx, index, output);
}

function outputOf(tx: string, index: number, output: EsploraOutput): Utxo {
  return {
    tx_hash: tx,
    output_index: index,
    ...(output.scriptpubkey_address === undefined ? {} : { owner_addr: output.scriptpubkey_address }),
    script: output.scriptpubkey,
    script_type: output.scriptpubkey_type,
    amounts: [{ unit: chain.unit, quantity: String(output.value) }],
    // Where it stands is said once, for the whole transaction.
    slot: 0,
    block: 0,
    block_time: 0,
  };
}

function spentBy({ spent, txid, status }: EsploraSpend): Partial<Utxo> {
  if (!spent) return {};
  const height = status?.block_height;
  return {
    ...(txid === undefined ? {} : { spent_tx_hash: txid }),
    spent_at_slot: height ?? Number.POSITIVE_INFINITY,
    ...(height === undefined ? {} : { spent_at_block: height }),
  };
}

/** From the outputs that are still known, and from what its block did. `why`: the history does not have it. */
async function withoutHistory(tx: string, why: Problem | null): Promise<ShownTx> {
  const { body: outputs, height } = await get<Utxo[]>(`/txs/${encodeURIComponent(tx)}/utxos`);
  const [first] = outputs;
  const changes = first?.block_hash === undefined ? null : await changesOf(first.block_hash);
  const known = changes instanceof Error ? null : changes;
  const inputs = known?.spent.filter((row) => row.spent_tx_hash === tx) ?? [];
  const isCoinbase = first?.is_coinbase === true;
  const untold = changes instanceof Error ? ` What it spends is not known any more: ${changes.message}` : '';
  return {
    hash: tx,
    place:
      first === undefined
        ? null
        : {
            height: first.block,
            hash: first.block_hash,
            slot: first.slot,
            epoch: first.epoch,
            time: first.block_time,
            confirmations: confirmations(first.block, height),
          },
    valid: known?.transactions.every(({ tx_hash, valid }) => tx_hash !== tx || valid) ?? true,
    size: null,
    virtualSize: null,
    // On Cardano withdrawals and deposits count too, and only the transaction names them.
    fee: chain.hasEsplora && known !== null && !isCoinbase ? sum(inputs) - sum(outputs) : null,
    isCoinbase,
    inputs,
    outputs,
    whole: null,
    esplora: null,
    missing: (why?.message ?? NO_HISTORY) + untold,
  };
}

export async function changesOf(hash: string): Promise<Changes | Problem> {
  try {
    return (await get<Changes>(`/blocks/${hash}/changes`)).body;
  } catch (error) {
    return problem(error);
  }
}

export function isKnown(input: Utxo | Named): input is Utxo {
  return 'amounts' in input;
}

/** What outputs hold of the chain's coin. */
export function sum(rows: readonly Utxo[]): bigint {
  return rows.reduce((so, { amounts }) => so + BigInt(amounts[0].quantity), 0n);
}

function confirmations(height: number, tip: number | null): number {
  return tip === null ? 1 : Math.max(0, tip - height + 1);
}
