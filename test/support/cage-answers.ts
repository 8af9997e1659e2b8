/**
 * What a service must answer about cages, made from a plain list of unspent
 * outputs and a map of facts: a tree over the outputs, a trie over the facts,
 * and nothing that a store keeps.
 */
import type { Engine } from '../../src/engine/engine.ts';
import { outpointIndex, outpointTxId } from '../../src/ledgers/outpoint.ts';
import { readStored } from '../../src/projections/coin.ts';
import { UNSPENT } from '../../src/projections/utxo.ts';
import { csmt, MemoryNodes, mpf } from '../../src/proofs/index.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { cageLedger } from './cage-blocks.ts';

export interface UnspentOutput extends csmt.UtxoEntry {
  readonly owner: Uint8Array;
}

/** Every unspent output of a store. */
export function unspentIn(engine: Pick<Engine, 'scan'>): UnspentOutput[] {
  const leaf = cageLedger.leaf!;
  const found: UnspentOutput[] = [];
  // The column's own rows have shorter keys.
  for (const [key, value] of engine.scan(UNSPENT, {})) {
    if (key.length !== 36) continue;
    const { raw } = readStored(value);
    const [txId, index] = [outpointTxId(key).slice(), outpointIndex(key)];
    found.push({ txId, index, txOut: leaf.content(raw, 0, raw.length).slice(), owner: leaf.owner(raw, 0, raw.length).slice() });
  }
  return found;
}

export class CageAnswers {
  readonly root: Uint8Array | null;
  private readonly tree = new MemoryNodes();
  private readonly outputs: readonly UnspentOutput[];

  constructor(outputs: readonly UnspentOutput[]) {
    this.outputs = outputs;
    const changes = outputs.map((output) => csmt.utxoLeaf(output.owner, output));
    this.root = csmt.update(this.tree, this.tree, changes).root;
  }

  get snapshot() {
    return { utxo_root: this.root === null ? null : toHex(this.root), chainpoint: { slot: 7, block_id: 'ab'.repeat(32) } };
  }

  /** `ref`: `TXID#INDEX`. */
  utxo(ref: string) {
    const [txId, index] = ref.split('#');
    const found = this.outputs.find((output) => toHex(output.txId) === txId && output.index === Number(index))!;
    const proof = csmt.proveInclusion(this.tree, csmt.utxoKey(found.owner, found))!;
    return {
      utxo: { tx_in: { tx_id: txId, tx_ix: Number(index) }, tx_out: toHex(found.txOut), utxo_proof: toHex(csmt.encodeInclusion(proof)) },
    };
  }

  /** All outputs of an address, in the order of the tree. */
  set(address: Uint8Array) {
    const owner = csmt.ownerOfAddress(address);
    const { leaves, proof } = csmt.proveCompleteness(this.tree, csmt.ownerPrefix(owner));
    const named = new Map(this.outputs.map((output) => [toHex(csmt.utxoKey(output.owner, output).bytes), output]));
    const entries = leaves.map(({ key }) => {
      const { txId, index, txOut } = named.get(toHex(key.bytes))!;
      return { ref: { tx_id: toHex(txId), tx_ix: index }, txout_cbor: toHex(txOut) };
    });
    return { entries, completeness_proof: toHex(csmt.encodeCompleteness(proof)) };
  }
}

/** The proof of a key, present or not, in hex. */
export function mpfProof(facts: ReadonlyMap<string, string>, key: string): string {
  const nodes = new MemoryNodes();
  const changes = [...facts].map(([name, value]) => ({ key: fromHex(name), value: fromHex(value) }));
  mpf.update(nodes, nodes, changes);
  return toHex(mpf.encode(mpf.prove(nodes, fromHex(key)).proof));
}
