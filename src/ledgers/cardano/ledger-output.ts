/**
 * An output as a node's ledger encodes it when asked for its unspent set. A node
 * does not keep the bytes an output had in its block: the lengths, the order of
 * assets and the choice between array and map are the ledger's. The array is
 * used wherever it can say all there is; the map only with an inline datum or a
 * reference script. Datums and native scripts keep their own bytes, because
 * their hashes depend on them.
 *
 * Source: cardano-ledger, EncCBOR of `BabbageTxOut` (Babbage/TxOut.hs), of
 * `MaryValue` (Mary/Value.hs) and `encodeMap` (cardano-ledger-binary).
 */
import { toHex } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import type { Asset } from '../asset.ts';
import { describeOutput } from './describe.ts';

const SCRIPT_NATIVE = 0;

/** Takes the output as it stood in its block, in the form of any era. */
export function encodeLedgerOutput(raw: Uint8Array): Uint8Array {
  const { address, lovelace, assets, datumHash, inlineDatum, scriptRef } = describeOutput(raw);
  const w = new CborWriter(raw.length + 16);
  if (inlineDatum === null && scriptRef === null) {
    writeValue(w.array(datumHash === null ? 2 : 3).bytes(address), lovelace, assets);
    return (datumHash === null ? w : w.bytes(datumHash)).take();
  }
  const hasDatum = datumHash !== null || inlineDatum !== null;
  w.map(2 + (hasDatum ? 1 : 0) + (scriptRef === null ? 0 : 1));
  writeValue(w.uint(0).bytes(address).uint(1), lovelace, assets);
  if (datumHash !== null) w.uint(2).array(2).uint(0).bytes(datumHash);
  else if (inlineDatum !== null) w.uint(2).array(2).uint(1).encoded(inlineDatum);
  if (scriptRef !== null) w.uint(3).encoded(encodeScript(scriptRef));
  return w.take();
}

/** A map as the ledger writes it: of more than 23 entries the length is left open. */
export function writeLedgerMap<T>(w: CborWriter, entries: readonly T[], write: (entry: T) => void): CborWriter {
  const open = entries.length > 23;
  if (open) w.startMap();
  else w.map(entries.length);
  for (const entry of entries) write(entry);
  return open ? w.end() : w;
}

function writeValue(w: CborWriter, lovelace: bigint, assets: readonly Asset[]): void {
  // Before Conway a block could hold amounts of zero; the ledger's value does not.
  const byPolicy = [...Map.groupBy(assets.filter(({ quantity }) => quantity !== 0n).sort(byName), ({ policy }) => toHex(policy)).values()];
  if (byPolicy.length === 0) {
    w.bigUint(lovelace);
    return;
  }
  writeLedgerMap(w.array(2).bigUint(lovelace), byPolicy, (held) => {
    writeLedgerMap(w.bytes(held[0].policy), held, ({ name, quantity }) => w.bytes(name).bigUint(quantity));
  });
}

function byName(a: Asset, b: Asset): number {
  return Buffer.compare(a.policy, b.policy) || Buffer.compare(a.name, b.name);
}

/** `[kind, script]`: Plutus scripts are byte strings, a native script keeps the bytes it came with. */
function encodeScript(scriptRef: Uint8Array): Uint8Array {
  const c = new Cursor(scriptRef);
  c.array();
  const kind = c.uint();
  const w = new CborWriter(scriptRef.length + 8).array(2).uint(kind);
  if (kind !== SCRIPT_NATIVE) return w.bytes(c.byteString()).take();
  const start = c.at;
  c.skip();
  return w.raw(scriptRef.subarray(start, c.at)).take();
}
