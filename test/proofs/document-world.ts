/**
 * Proof documents over trees in memory, of either family: some owners with some
 * outputs each, in both structures, and documents of every kind about them.
 */
import {
  csmt,
  type FamilyName,
  MemoryNodes,
  mmr,
  ownerHash,
  type ProofDocument,
  type ProofDocumentJson,
  type Trusted,
} from '../../src/proofs/index.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';
import { type Dice, memorySpaces } from './support.ts';

export const FAMILIES: readonly FamilyName[] = ['cardano', 'bitcoin'];
export const NETWORKS: Readonly<Record<FamilyName, string>> = { cardano: 'devnet', bitcoin: 'bitcoin-regtest' };

export interface Output extends csmt.UtxoEntry {
  readonly address: Uint8Array;
}

/** A document, and what its reader knows. */
export interface Case {
  readonly document: ProofDocument;
  readonly trusted: Trusted;
}

export class DocumentWorld {
  readonly family: FamilyName;
  readonly cases: Case[] = [];
  readonly outputs: readonly Output[];
  readonly tree = new MemoryNodes();
  readonly treeRoot: Uint8Array;
  private readonly dice: Dice;

  constructor(dice: Dice, family: FamilyName, owners = 6) {
    this.dice = dice;
    this.family = family;
    const addresses = Array.from({ length: owners }, () => Uint8Array.of(0x60, ...dice.bytes(28)));
    this.outputs = addresses.flatMap((address, i) => Array.from({ length: i + 1 }, () => this.output(address)));
    const leaves = this.outputs.map((entry) => csmt.utxoLeaf(this.ownerOf(entry.address), entry));
    this.treeRoot = csmt.update(this.tree, this.tree, leaves).root!;
    for (const address of [...addresses, Uint8Array.of(0x60, ...dice.bytes(28))]) this.addTree(address);
    this.addRange();
  }

  ownerOf(address: Uint8Array): Uint8Array {
    return ownerHash(this.family, address);
  }

  trusted(root: Uint8Array | null): Trusted {
    return { root, family: this.family, network: NETWORKS[this.family] };
  }

  head(root: Uint8Array | null): Pick<ProofDocument, 'network' | 'family' | 'point' | 'root'> {
    return { ...this.trusted(root), point: { height: 7, slot: 70, hash: 'ab'.repeat(32) } };
  }

  /** That the address has no such output. */
  absence(address: Uint8Array, outpoint: csmt.Outpoint): ProofDocument {
    const owner = this.ownerOf(address);
    const proof = csmt.proveExclusion(this.tree, csmt.utxoKey(owner, outpoint))!;
    return { ...this.head(this.treeRoot), kind: 'csmt-absent', claim: { owner, address, ...outpoint }, proof };
  }

  inclusion({ address, txId, index, txOut }: Output): ProofDocument {
    const owner = this.ownerOf(address);
    const proof = csmt.proveInclusion(this.tree, csmt.utxoKey(owner, { txId, index }))!;
    return { ...this.head(this.treeRoot), kind: 'csmt-inclusion', claim: { owner, txId, index, txOut }, proof };
  }

  complete(address: Uint8Array): ProofDocument {
    const owner = this.ownerOf(address);
    const outputs = this.outputs.filter((output) => output.address === address).map(entryOf);
    const { proof } = csmt.proveCompleteness(this.tree, csmt.ownerPrefix(owner));
    return { ...this.head(this.treeRoot), kind: 'csmt-complete', claim: { owner, address, outputs }, proof };
  }

  private output(address: Uint8Array): Output {
    const { dice } = this;
    const outpoint = { txId: dice.bytes(32), index: dice.pick([0, 1, 23, 24, 300, 70_000]) };
    return { address, ...outpoint, txOut: this.txOut(address) };
  }

  private txOut(address: Uint8Array): Uint8Array {
    const { dice, family } = this;
    const value = dice.pick([0, 23, 70_000, 5_000_000_000]);
    if (family === 'bitcoin') return new CborWriter().array(2).uint(value).bytes(address).take();
    const datum = (): Uint8Array => dice.bytes(32);
    const shapes = [
      () => new CborWriter().array(2).bytes(address).uint(value),
      () => new CborWriter().array(3).bytes(address).uint(value).bytes(datum()),
      () => new CborWriter().map(2).uint(0).bytes(address).uint(1).uint(value),
      () => new CborWriter().map(3).uint(1).uint(value).uint(0).bytes(address).uint(2).array(2).uint(0).bytes(datum()),
    ];
    return dice.pick(shapes)().take();
  }

  private addTree(address: Uint8Array): void {
    this.add(this.complete(address));
    const absent = this.absence(address, { txId: this.dice.bytes(32), index: 0 });
    this.add(absent);
    // Of the Bitcoin family an owner may go by its hash.
    if (this.family === 'bitcoin' && absent.kind === 'csmt-absent') this.add({ ...absent, claim: { ...absent.claim, address: null } });
    const mine = this.outputs.find((output) => output.address === address);
    if (mine !== undefined) this.add(this.inclusion(mine));
  }

  private addRange(): void {
    const spaces = memorySpaces();
    // The first is created again after it was spent.
    const created = [...this.outputs, this.outputs[0]];
    const contents = created.map(({ txId, index, txOut }) => mmr.leafContent(txId, index, txOut));
    const spent = created.map((_, i) => i).filter((i) => i % 3 === 0 && i !== created.length - 1);
    const { mmr: range } = mmr.applyBlock(spaces, spaces, mmr.EMPTY_UTXO_MMR, { created: contents, spent });
    const head = this.head(mmr.rootsOf(range).merged);
    for (const [i, entry] of created.entries()) {
      const kind = spent.includes(i) ? 'mmr-spent' : 'mmr-unspent';
      this.add({ ...head, kind, claim: entryOf(entry), proof: mmr.proveUtxo(spaces, range, i) });
    }
  }

  private add(document: ProofDocument): void {
    this.cases.push({ document, trusted: this.trusted(document.root) });
  }
}

function entryOf({ txId, index, txOut }: csmt.UtxoEntry): csmt.UtxoEntry {
  return { txId, index, txOut };
}

/**
 * What somebody would believe: all that is claimed. An address says no more than the owner's hash, outputs of a set have no order, and
 * of the range it matters which leaf it is.
 */
export function meaningOf({ kind, network, family, root, claim, proof }: ProofDocumentJson): string {
  const { address: _, outputs, ...rest } = claim as { address?: string; outputs?: readonly object[] };
  const sorted = outputs?.map((output) => JSON.stringify(Object.entries(output).sort()).toLowerCase()).sort();
  const leaf = 'leaf' in proof ? proof.leaf.leafIndex : null;
  return JSON.stringify([kind, network, family, root, Object.entries(rest).sort(), sorted, leaf]).toLowerCase();
}
