/**
 * What queries find, for people: outputs as a table, or one thing of any kind
 * field by field. Names of assets come from strangers, so only what prints
 * safely is shown as text.
 */
import { bareCoins } from '../query/amounts.ts';
import type { Currency, Dialect } from '../query/dialect.ts';
import type { AmountJson, BalanceJson, BlockJson, SeenJson, TxJson, UtxoJson } from '../query/render.ts';
import { fromHex } from '../util/bytes.ts';
import { printableText } from '../util/text.ts';
import { coins, count, counted, shortened, table, utcTime } from './format.ts';

/** Of one output, in a table. */
const ASSETS_SHOWN = 2;
const NAME_CHARS_MAX = 40;

/** CIP-67: four bytes before the name, `0 | label 16 bit | checksum 8 bit | 0`. */
const LABELLED_NAME = /^0([0-9a-f]{4})[0-9a-f]{2}0(.+)$/;

export function utxoTable(utxos: readonly UtxoJson[], { currency, clock }: Pick<Dialect, 'currency' | 'clock'>): string {
  const someSpent = utxos.some((utxo) => utxo.spent_at_slot !== undefined);
  // A chain without epochs has no slots of its own, and no assets either.
  const plain = clock.epoch(0) === null;
  const rows = utxos.map((utxo) => [
    `${utxo.tx_hash}#${utxo.output_index}`,
    shortened(ownerText(utxo), 16, 6),
    bareCoins(ownAmount(utxo), currency),
    count(utxo.slot),
    ...(someSpent ? [utxo.spent_at_slot === undefined ? '' : count(utxo.spent_at_slot)] : []),
    ...(plain ? [] : [assetsText(utxo.amounts.slice(1))]),
  ]);
  const head = ['OUTPUT', 'ADDRESS', currency.name.toUpperCase(), plain ? 'HEIGHT' : 'SLOT'];
  return table([...head, ...(someSpent ? ['SPENT AT'] : []), ...(plain ? [] : ['ASSETS'])], rows, someSpent ? [2, 3, 4] : [2, 3]);
}

/** One output, every field it has. */
export function utxoRows(utxo: UtxoJson, currency: Currency): [string, string][] {
  const rows: [string, string | undefined][] = [
    ['output', `${utxo.tx_hash}#${utxo.output_index}`],
    ['state', utxo.spent_at_slot === undefined ? 'unspent' : 'spent'],
    ['address', utxo.owner_addr],
    ['stake address', utxo.owner_stake_addr],
    ['payment credential', utxo.owner_payment_credential],
    ['stake credential', utxo.owner_stake_credential],
    ['script', utxo.script],
    ['script type', utxo.script_type],
    [currency.name, bareCoins(ownAmount(utxo), currency)],
    ...assetRows(utxo.amounts.slice(1)),
    ['datum hash', utxo.data_hash],
    ['inline datum', utxo.inline_datum],
    ['reference script', utxo.reference_script_hash],
    ['collateral return', utxo.is_collateral_return ? 'yes' : undefined],
    ['coinbase', utxo.is_coinbase ? 'yes' : undefined],
    ['created', placeText(utxo.block, utxo.slot, utxo.epoch, utxo.block_time)],
    ['block', utxo.block_hash],
  ];
  const { spent_at_block: block, spent_at_slot: slot, spent_epoch: epoch, spent_block_time: time } = utxo;
  if (block !== undefined && slot !== undefined) {
    rows.push(['spent', placeText(block, slot, epoch, time)], ['spent in', utxo.spent_at_block_hash]);
    rows.push(['spent by', utxo.spent_tx_hash ?? 'the ledger itself']);
  }
  return present(rows);
}

function present(rows: readonly [string, string | undefined][]): [string, string][] {
  return rows.filter((row): row is [string, string] => row[1] !== undefined);
}

function assetRows(amounts: readonly AmountJson[]): [string, string][] {
  return amounts.map((amount) => ['asset', `${assetText(amount)}  ${amount.unit}`]);
}

export function txRows(tx: TxJson): [string, string][] {
  return [
    ['transaction', tx.tx_hash],
    ['block', `${placeText(tx.block, tx.slot, tx.epoch, tx.block_time)}, ${tx.block_hash}`],
    ['index', count(tx.tx_index)],
    ['valid', tx.valid ? 'yes' : 'no: its script failed, and its collateral was spent'],
  ];
}

export function balanceRows({ utxo_count: outputs, amounts }: BalanceJson, currency: Currency): [string, string][] {
  const [own, ...assets] = amounts;
  return [['unspent outputs', count(outputs)], [currency.name, bareCoins(BigInt(own.quantity), currency)], ...assetRows(assets)];
}

/** What it did: absent where that was pruned. */
export interface BlockChangeCounts {
  readonly txs: readonly { readonly tx_hash: string; readonly valid: boolean }[] | null;
  readonly created: number | null;
  readonly spent: number | null;
}

export function blockRows(block: BlockJson, { txs, created, spent }: BlockChangeCounts): [string, string][] {
  const rows: [string, string | undefined][] = [
    ['block', block.hash],
    ['place', placeText(block.height, block.slot, block.epoch, block.block_time)],
    ['era', block.era],
    ['size', block.size === undefined ? 'not known: the store began here' : `${count(block.size)} bytes`],
    ['previous', block.previous_hash],
    ['issuer', block.issuer],
    ['transactions', block.tx_count === undefined ? undefined : count(block.tx_count)],
    ['created', created === null ? 'not known' : counted(created, 'output')],
    ['spent', spent === null ? 'not known' : counted(spent, 'output')],
    ...(txs ?? []).map(({ tx_hash, valid }): [string, string] => ['transaction', valid ? tx_hash : `${tx_hash} (invalid)`]),
  ];
  return present(rows);
}

export function seenRows(kind: 'datum' | 'script', seen: SeenJson): [string, string][] {
  return present([
    [kind, seen.hash],
    ['type', seen.type],
    ['script', seen.script],
    ['cbor', seen.cbor],
    ['seen in', seen.output_index === undefined ? `${seen.tx_hash}, beside its outputs` : `${seen.tx_hash}#${seen.output_index}`],
    ['first at', placeText(seen.block, seen.slot, seen.epoch, seen.block_time)],
    ['block', seen.block_hash],
  ]);
}

export function sumOf(utxos: readonly UtxoJson[], currency: Currency): string {
  return coins(
    utxos.reduce((sum, utxo) => sum + ownAmount(utxo), 0n),
    currency,
  );
}

/** Of the chain's own coin, which stands first. */
function ownAmount({ amounts }: UtxoJson): bigint {
  return BigInt(amounts[0].quantity);
}

function ownerText({ owner_addr: address, script_type: type = '' }: UtxoJson): string {
  return address ?? `(${type})`;
}

/** A chain without epochs has no slots of its own either. */
function placeText(block: number, slot: number, epoch: number | undefined, time: number | undefined): string {
  const own = epoch === undefined ? '' : `, slot ${count(slot)}, epoch ${count(epoch)}`;
  return `height ${count(block)}${own}${time === undefined ? '' : `, ${utcTime(time)}`}`;
}

function assetsText(assets: readonly AmountJson[]): string {
  const shown = assets.slice(0, ASSETS_SHOWN).map(assetText);
  if (assets.length > ASSETS_SHOWN) shown.push(`${assets.length - ASSETS_SHOWN} more`);
  return shown.join(', ');
}

function assetText({ quantity, policy_id: policy = '', asset_name: name = '' }: AmountJson): string {
  return `${count(BigInt(quantity))} ${readableName(name) ?? shortened(policy + name, 8, 6)}`;
}

function readableName(hex: string): string | undefined {
  const [, label, rest] = LABELLED_NAME.exec(hex) ?? [];
  const plain = printable(hex);
  if (plain !== undefined || label === undefined || rest === undefined) return plain;
  const named = printable(rest);
  return named === undefined ? undefined : `(${Number.parseInt(label, 16)}) ${named}`;
}

function printable(hex: string): string | undefined {
  const text = printableText(fromHex(hex));
  return text === null ? undefined : shortened(text, NAME_CHARS_MAX, 1);
}
