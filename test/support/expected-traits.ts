/**
 * What a store should hold of assets, datums and scripts, worked out from the
 * devnet's own model: rows of the indexes by policy, asset, datum and script, of
 * balances, and of everything seen. Sums and keys are written here a second
 * time, from the documented layouts.
 */

import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import { blake2b224, blake2b256 } from '../../src/crypto/hash.ts';
import { type DescribedOutput, describeOutput } from '../../src/ledgers/cardano/describe.ts';
import type { WitnessKind } from '../../src/ledgers/ledger.ts';
import type { TraitKind } from '../../src/projections/index/by-key.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import type { Devnet } from './harness.ts';

const KEY_HEX = 56;

interface Described extends DescribedOutput {
  /** Of the datum that it carries. */
  readonly inlineHash: string | null;
}

const known = new WeakMap<ModelUtxo, Described>();

function described(utxo: ModelUtxo): Described {
  const found = known.get(utxo);
  if (found !== undefined) return found;
  const output = describeOutput(utxo.output);
  const made = { ...output, inlineHash: output.inlineDatum === null ? null : toHex(blake2b256(output.inlineDatum)) };
  known.set(utxo, made);
  return made;
}

/** Outputs never change: their keys are hashed once. */
const keys = new WeakMap<ModelUtxo, Map<TraitKind, readonly string[]>>();

/** The keys an output has of this kind, in hex. */
export function traitKeysOf(utxo: ModelUtxo, kind: TraitKind): readonly string[] {
  const kinds = keys.get(utxo) ?? new Map<TraitKind, readonly string[]>();
  keys.set(utxo, kinds);
  const found = kinds.get(kind) ?? findKeys(utxo, kind);
  kinds.set(kind, found);
  return found;
}

function findKeys(utxo: ModelUtxo, kind: TraitKind): readonly string[] {
  const assets = [...utxo.assets.keys()].map((asset) => asset.split('.') as [string, string]);
  if (kind === 'policy') return [...new Set(assets.map(([policy]) => policy))];
  if (kind === 'asset') return assets.map(([policy, name]) => toHex(blake2b224(fromHex(policy + name))));
  const { datumHash, inlineHash, scriptHash } = described(utxo);
  if (kind === 'script') return scriptHash === null ? [] : [toHex(scriptHash)];
  const hash = inlineHash ?? (datumHash === null ? null : toHex(datumHash));
  return hash === null ? [] : [hash.slice(0, KEY_HEX)];
}

/** Rows of the balances of these outputs by the key (hex) that each has. */
export function balanceRows(utxos: Iterable<ModelUtxo>, keyOf: (utxo: ModelUtxo) => string | undefined): string[] {
  const totals = new Map<string, { utxos: number; lovelace: bigint }>();
  const assets = new Map<string, bigint>();
  for (const utxo of utxos) {
    const key = keyOf(utxo);
    if (key === undefined) continue;
    const { utxos: count, lovelace } = totals.get(key) ?? { utxos: 0, lovelace: 0n };
    totals.set(key, { utxos: count + 1, lovelace: lovelace + utxo.lovelace });
    for (const [asset, quantity] of utxo.assets) {
      const row = key + asset.replace('.', '');
      assets.set(row, (assets.get(row) ?? 0n) + quantity);
    }
  }
  return [
    ...Array.from(totals, ([key, { utxos: count, lovelace }]) => `${key} ${count.toString(16).padStart(8, '0')}${amount(lovelace)}`),
    ...Array.from(assets, ([row, quantity]) => `${row} ${amount(quantity)}`),
  ].sort(byKey);
}

/** As the store sorts: by key, where a key may begin another. */
function byKey(a: string, b: string): number {
  const [left, right] = [a.slice(0, a.indexOf(' ')), b.slice(0, b.indexOf(' '))];
  return left < right ? -1 : left > right ? 1 : 0;
}

function amount(value: bigint): string {
  if (value === 0n) return '';
  const hex = value.toString(16);
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}

interface Sight {
  readonly hash: string;
  readonly height: number;
  readonly slot: number;
  readonly txId: string;
  /** Null: among the witnesses. */
  readonly index: number | null;
  readonly bytes: Uint8Array;
}

/** Everything of this kind that the chain has shown, in order: of a block its outputs before its witnesses. */
function* sights(devnet: Devnet, kind: WitnessKind): Iterable<Sight> {
  for (const block of devnet.chain.blocks) {
    const { height, slot, txs } = block;
    for (const { id: txId, creates } of txs) {
      for (const utxo of creates) {
        const { inlineDatum, inlineHash, scriptRef, scriptHash } = described(utxo);
        const place = { height, slot, txId, index: utxo.index };
        if (kind === 'datum' && inlineDatum !== null) yield { ...place, hash: inlineHash!, bytes: inlineDatum };
        if (kind === 'script' && scriptRef !== null) yield { ...place, hash: toHex(scriptHash!), bytes: scriptRef };
      }
    }
    for (const brought of devnet.brought(block)) {
      if (brought.kind !== kind) continue;
      yield { height, slot, txId: txs[brought.txIndex].id, index: null, hash: toHex(brought.hash), bytes: brought.bytes };
    }
  }
}

/** Rows of everything of this kind that the chain has shown: of each hash the first place. */
export function seenRows(devnet: Devnet, kind: WitnessKind): string[] {
  const rows = new Map<string, string>();
  for (const { hash, height, slot, txId, index, bytes } of sights(devnet, kind)) {
    if (rows.has(hash)) continue;
    rows.set(hash, `${hash} ${unsigned(height, 4)}${unsigned(slot, 8)}${txId}${unsigned(index ?? 0xffff_ffff, 4)}${toHex(bytes)}`);
  }
  return [...rows.values()].sort(byKey);
}

/** How often something came back, by how it came first and how again. */
export function recurrences(devnet: Devnet): Record<'witnessAgain' | 'outputAgain' | 'witnessThenOutput' | 'outputThenWitness', number> {
  const counts = { witnessAgain: 0, outputAgain: 0, witnessThenOutput: 0, outputThenWitness: 0 };
  for (const kind of ['datum', 'script'] as const) {
    const first = new Map<string, Sight>();
    for (const sight of sights(devnet, kind)) {
      const known = first.get(sight.hash);
      if (known === undefined) first.set(sight.hash, sight);
      else if (known.index === null) counts[sight.index === null ? 'witnessAgain' : 'witnessThenOutput']++;
      else counts[sight.index === null ? 'outputThenWitness' : 'outputAgain']++;
    }
  }
  return counts;
}

function unsigned(value: number, bytes: number): string {
  return value.toString(16).padStart(2 * bytes, '0');
}
