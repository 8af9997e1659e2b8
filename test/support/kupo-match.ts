/**
 * Matches of the Kupo API for tests: what a match looks like, what it should be
 * for a document of our own API, and outputs that no devnet makes by itself.
 */
import assert from 'node:assert/strict';
import { blake2b256 } from '../../src/crypto/hash.ts';
import type { Block } from '../../src/ledgers/ledger.ts';
import type { UtxoJson } from '../../src/query/json.ts';
import { concatBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';
import { forgeAfter } from './forged.ts';
import type { Answer, Served } from './served.ts';

export const QUANTITY_MAX = (1n << 63n) - 1n;

export interface KupoPoint {
  readonly slot_no: number;
  readonly header_hash: string;
}

export interface KupoMatch {
  readonly transaction_index: number;
  readonly transaction_id: string;
  readonly output_index: number;
  readonly address: string;
  readonly value: { readonly coins: number | string; readonly assets: Readonly<Record<string, number | string>> };
  readonly datum_hash: string | null;
  readonly datum_type?: 'hash' | 'inline';
  readonly script_hash: string | null;
  readonly created_at: KupoPoint;
  readonly spent_at: (KupoPoint & { readonly transaction_id?: string | null }) | null;
}

/** As a number where a double holds it, as the documentation of Kupo's own clients asks for. */
function quantity(text: string): number | string {
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

/** What Kupo would say of the output; without the places in block and transaction, which our documents do not have. */
export function matchOf(utxo: UtxoJson): Omit<KupoMatch, 'transaction_index'> {
  // Outputs before Conway may name assets of which they have none; the ledger does not count those, and nor does Kupo.
  const held = (utxo.amounts ?? []).slice(1).filter(({ quantity: text }) => text !== '0');
  const assets = held.map(({ policy_id = '', asset_name = '', quantity: text }) => {
    return [asset_name === '' ? policy_id : `${policy_id}.${asset_name}`, quantity(text)] as const;
  });
  const hash = utxo.inline_datum === undefined ? utxo.data_hash : toHex(blake2b256(fromHex(utxo.inline_datum)));
  return {
    transaction_id: utxo.tx_hash,
    output_index: utxo.output_index,
    address: utxo.owner_addr ?? '',
    value: { coins: quantity(utxo.lovelace_amount ?? ''), assets: Object.fromEntries(assets) },
    datum_hash: hash ?? null,
    ...(hash === undefined ? {} : { datum_type: utxo.inline_datum === undefined ? ('hash' as const) : ('inline' as const) }),
    script_hash: utxo.reference_script_hash ?? null,
    created_at: { slot_no: utxo.slot, header_hash: utxo.block_hash ?? '' },
    spent_at:
      utxo.spent_at_slot === undefined
        ? null
        : { slot_no: utxo.spent_at_slot, header_hash: utxo.spent_at_block_hash ?? '', transaction_id: utxo.spent_tx_hash ?? null },
  };
}

/** A match with what `matchOf` cannot know left out. */
export function comparable({ transaction_index: _, spent_at, ...match }: KupoMatch): Omit<KupoMatch, 'transaction_index'> {
  if (spent_at === null) return { ...match, spent_at };
  const { slot_no, header_hash, transaction_id = null } = spent_at;
  return { ...match, spent_at: { slot_no, header_hash, transaction_id } };
}

export interface OutputDraft {
  /** The raw address in hex. */
  readonly address: string;
  readonly lovelace: bigint;
  /** By policy and name in hex, with a dot between. */
  readonly assets: Readonly<Record<string, bigint>>;
  /** CBOR in hex. */
  readonly inlineDatum?: string;
  /** CBOR `[kind, script]` in hex. */
  readonly scriptRef?: string;
}

/** Puts a block on the chain of the store whose one transaction makes these outputs out of nothing; its id in hex. */
export function makeOutputs(served: Served, drafts: readonly OutputDraft[]): string {
  const { devnet, rig } = served;
  const outputs = drafts.map(outputBytes);
  // Behind them, as behind the bodies of a block: no witnesses, no auxiliary data.
  const raw = concatBytes(...outputs, Uint8Array.of(0x80, 0xa0));
  const end = raw.length - 2;
  let at = 0;
  const creates = outputs.map(({ length }, index) => {
    const create = devnet.ledger.readOutput(raw, at, at + length);
    at += length;
    return { ...create, index };
  });
  const id = blake2b256(raw);
  const [tip] = devnet.blocks(-1);
  const forged = forgeAfter(tip, tip, [{ id, valid: true, creates, spends: [] }]);
  rig.fold.apply([{ ...forged, raw, parts: [0, end, end + 1, end + 2] } as Block]);
  served.reads.moved();
  return toHex(id);
}

function outputBytes({ address, lovelace, assets, inlineDatum, scriptRef }: OutputDraft): Uint8Array {
  const w = new CborWriter(512);
  w.map(2 + (inlineDatum === undefined ? 0 : 1) + (scriptRef === undefined ? 0 : 1));
  w.uint(0).bytes(fromHex(address)).uint(1).array(2).bigUint(lovelace).map(Object.keys(assets).length);
  for (const [unit, amount] of Object.entries(assets)) {
    const [policy, name] = unit.split('.');
    w.bytes(fromHex(policy)).map(1).bytes(fromHex(name)).bigUint(amount);
  }
  if (inlineDatum !== undefined) w.uint(2).array(2).uint(1).tag(24).bytes(fromHex(inlineDatum));
  if (scriptRef !== undefined) w.uint(3).tag(24).bytes(fromHex(scriptRef));
  return w.take();
}

/** Of an answer that is a list of matches. */
export function matchesIn(answer: Answer): KupoMatch[] {
  assert.equal(answer.status, 200, answer.text);
  return answer.json<KupoMatch[]>();
}
