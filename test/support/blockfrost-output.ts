/**
 * Outputs of the Blockfrost API for tests: what one looks like, what it should
 * be for a document of our own API and for a match of Kupo, and how a client
 * reads all pages of a list.
 */
import assert from 'node:assert/strict';
import { blake2b256 } from '../../src/crypto/hash.ts';
import type { UtxoJson } from '../../src/query/json.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { checkBlockfrost } from './blockfrost-check.ts';
import type { KupoMatch } from './kupo-match.ts';
import type { Answer, Served } from './served.ts';

export interface BlockfrostAmount {
  readonly unit: string;
  readonly quantity: string;
}

export interface BlockfrostOutput {
  readonly address: string;
  readonly tx_hash: string;
  readonly tx_index: number;
  readonly output_index: number;
  readonly amount: readonly BlockfrostAmount[];
  readonly block: string;
  readonly data_hash: string | null;
  readonly inline_datum: string | null;
  readonly reference_script_hash: string | null;
}

/** A read below the base of the API, checked against Blockfrost's own specification. */
export async function ask(served: Served, path: string): Promise<Answer> {
  const answer = await served.get(`//blockfrost${path}`);
  checkBlockfrost(path, answer);
  return answer;
}

export async function read<T>(served: Served, path: string): Promise<T> {
  const answer = await ask(served, path);
  assert.equal(answer.status, 200, answer.text);
  return answer.json<T>();
}

/** Page after page until one is empty, as Lucid and Mesh do. */
export async function everyPage(served: Served, path: string, count: number, order: 'asc' | 'desc' = 'asc'): Promise<BlockfrostOutput[]> {
  const rows: BlockfrostOutput[] = [];
  for (let page = 1; ; page++) {
    const found = await read<BlockfrostOutput[]>(served, `${path}?count=${count}&page=${page}&order=${order}`);
    assert.ok(found.length <= count);
    rows.push(...found);
    if (found.length === 0) return rows;
  }
}

/** What Blockfrost would say of an output of our own API. */
export function fromNative(utxo: UtxoJson): BlockfrostOutput {
  const hash = utxo.inline_datum === undefined ? utxo.data_hash : toHex(blake2b256(fromHex(utxo.inline_datum)));
  return {
    address: utxo.owner_addr ?? '',
    tx_hash: utxo.tx_hash,
    tx_index: utxo.output_index,
    output_index: utxo.output_index,
    amount: (utxo.amounts ?? [])
      .filter(({ unit, quantity }) => unit === 'lovelace' || quantity !== '0')
      .map(({ unit, quantity }) => ({ unit, quantity })),
    block: utxo.block_hash ?? '',
    data_hash: hash ?? null,
    inline_datum: utxo.inline_datum ?? null,
    reference_script_hash: utxo.reference_script_hash ?? null,
  };
}

/** What a match of Kupo and an output of Blockfrost both say. */
export function sharedWithKupo(utxo: BlockfrostOutput): object {
  const [{ quantity }, ...assets] = utxo.amount;
  return {
    name: `${utxo.tx_hash}#${utxo.output_index}`,
    address: utxo.address,
    lovelace: quantity,
    assets: Object.fromEntries(assets.map((asset) => [asset.unit, asset.quantity])),
    datum: [utxo.data_hash, utxo.data_hash === null ? null : utxo.inline_datum === null ? 'hash' : 'inline'],
    script: utxo.reference_script_hash,
    block: utxo.block,
  };
}

export function sharedWithBlockfrost(match: KupoMatch): object {
  const assets = Object.entries(match.value.assets).map(([unit, quantity]) => [unit.replace('.', ''), String(quantity)]);
  return {
    name: `${match.transaction_id}#${match.output_index}`,
    address: match.address,
    lovelace: String(match.value.coins),
    assets: Object.fromEntries(assets),
    datum: [match.datum_hash, match.datum_type ?? null],
    script: match.script_hash,
    block: match.created_at.header_hash,
  };
}
