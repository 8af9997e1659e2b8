/**
 * An asset as a whole: how much of it there is, who holds it, and a transaction
 * that minted it. Added up from the unspent outputs that hold it, in slices; the
 * mint is found by following the asset back through the history.
 */
import Type from 'typebox';
import { parseUnit } from '../../../ledgers/asset.ts';
import { type Dialect, hexOf } from '../../../query/dialect.ts';
import type { TransactionJson, UtxoJson } from '../../../query/json.ts';
import { UnspentError } from '../../../util/errors.ts';
import { ASSET_HOLDERS_MAX, ASSET_HOLDERS_SHOWN, ASSET_TRACE_TXS_MAX } from '../../../util/limits.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers, ReadContext } from '../answer.ts';
import { unitKey } from '../keys.ts';
import { described } from '../openapi.ts';
import { NowQuery, PATH, ReadQuery, ref } from '../schemas.ts';

const PARAMS = Type.Object({ unit: PATH.unit });

export function registerAssets(app: App, answers: NativeAnswers): void {
  const schema = {
    ...described('Balances', 'How much of an asset there is, and who holds it', {
      json: ref('AssetSummary'),
      description: `Added up from all unspent outputs that hold it; the ${ASSET_HOLDERS_SHOWN} addresses that hold most are named.`,
    }),
    params: PARAMS,
    querystring: ReadQuery,
  };
  app.get('/assets/:unit', { schema }, (request, reply) => {
    const unit = request.params.unit.toLowerCase();
    answers.give(request, reply, ({ view, renderer, task }) => {
      const sum = new AssetSum(unit);
      const rows = view.byKey('asset', unitKey(unit));
      return task.inSlices(
        rows,
        (utxo) => sum.add(renderer.utxo(utxo)),
        () => JSON.stringify(sum.document()),
      );
    });
  });

  const { transaction } = answers.context.network.dialect;
  if (transaction === undefined) return;
  const mintSchema = {
    ...described('Balances', 'A transaction that minted an asset', {
      json: ref('AssetMint'),
      description:
        'Found by following the asset from its oldest unspent output back to where it was made, with the metadata that came along. Needs `utxo.history`.',
    }),
    params: PARAMS,
    querystring: NowQuery,
  };
  app.get('/assets/:unit/mint', { schema: mintSchema }, (request, reply) => {
    const unit = request.params.unit.toLowerCase();
    answers.give(request, reply, (read) => mintOf(read, unit, transaction));
  });
}

class AssetSum {
  private readonly unit: string;
  private readonly holders = new Map<string, bigint>();
  private quantity = 0n;
  private outputs = 0;

  constructor(unit: string) {
    this.unit = unit;
  }

  /** Throws LIMIT. */
  add({ owner_addr: owner = '', amounts }: UtxoJson): boolean {
    const held = amounts.filter(({ unit }) => unit === this.unit).reduce((sum, { quantity }) => sum + BigInt(quantity), 0n);
    this.outputs++;
    this.quantity += held;
    this.holders.set(owner, (this.holders.get(owner) ?? 0n) + held);
    if (this.holders.size > ASSET_HOLDERS_MAX) throw new UnspentError('LIMIT', `more than ${ASSET_HOLDERS_MAX} addresses hold the asset`);
    return true;
  }

  document(): object {
    const { policy, name } = parseUnit(this.unit);
    const most = [...this.holders].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, ASSET_HOLDERS_SHOWN);
    return {
      unit: this.unit,
      policy_id: hexOf(policy),
      asset_name: hexOf(name),
      quantity: this.quantity.toString(),
      utxo_count: this.outputs,
      holder_count: this.holders.size,
      holders: most.map(([owner_addr, quantity]) => ({ owner_addr, quantity: quantity.toString() })),
    };
  }
}

/** Step by step to the transaction that made what the one before spent. Throws UNSUPPORTED, PRUNED, NOT_FOUND, LIMIT. */
function mintOf(
  { query, renderer, dialect, task }: ReadContext,
  unit: string,
  read: NonNullable<Dialect['transaction']>,
): string | Promise<string> {
  query.history();
  const [oldest] = query.byKey('asset', unitKey(unit), { order: 'asc', limit: 1 });
  if (oldest === undefined) throw new UnspentError('NOT_FOUND', `nobody holds ${unit}`);
  let next: Uint8Array = oldest.txId;
  let found: { readonly tx: TransactionJson; readonly steps: number } | null = null;
  const step = (steps: number): boolean => {
    const tx = read(query, next, renderer);
    if (tx === null) throw new UnspentError('NOT_FOUND', `transaction ${dialect.formatId(next)} is not on the chain`);
    // One whose scripts failed made nothing: what came back of its collateral was there before.
    if (tx.valid && tx.mint?.some((minted) => minted.unit === unit && !minted.quantity.startsWith('-'))) found = { tx, steps };
    const from = (tx.valid ? tx.inputs : (tx.collateral_inputs ?? [])).find(
      (input) => 'amounts' in input && input.amounts.some((amount) => amount.unit === unit),
    );
    if (found !== null) return false;
    if (from === undefined) throw new UnspentError('PRUNED', `where ${unit} came from in ${tx.tx_hash} is not known any more`);
    next = dialect.parseId(from.tx_hash);
    return true;
  };
  return task.inSlices(Array(ASSET_TRACE_TXS_MAX).keys(), step, () => {
    if (found === null)
      throw new UnspentError('LIMIT', `the asset changed hands more than ${ASSET_TRACE_TXS_MAX} times since it was minted`);
    const { tx, steps } = found;
    const { tx_hash, tx_index, slot, block, block_hash, epoch, block_time, auxiliary_data } = tx;
    return JSON.stringify({ tx_hash, tx_index, slot, block, block_hash, epoch, block_time, transfers: steps, auxiliary_data });
  });
}
