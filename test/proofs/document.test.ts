/**
 * Proof documents over trees in memory, of both families: right ones hold for
 * the root and say the same after a round through JSON; of thousands of changed
 * ones none makes anybody believe another claim.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  csmt,
  documentFromJson,
  documentToJson,
  type Family,
  MemoryNodes,
  mmr,
  ownerHash,
  type ProofDocument,
  type ProofDocumentJson,
  verifyDocument,
} from '../../src/proofs/index.ts';
import { toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { spoil } from './spoil.ts';
import { Dice, memorySpaces, ROUNDS } from './support.ts';

const FAMILIES: readonly Family[] = ['cardano', 'bitcoin'];
const MUTANTS = 2000 * ROUNDS;

interface Rested {
  readonly document: ProofDocument;
  readonly root: Uint8Array | null;
}

/** Some owners with some outputs each, in both structures, and a document of every kind about them. */
class World {
  readonly documents: Rested[] = [];
  private readonly dice: Dice;
  private readonly family: Family;

  constructor(dice: Dice, family: Family) {
    this.dice = dice;
    this.family = family;
    const owners = Array.from({ length: 6 }, () => dice.bytes(29));
    const outputs = owners.flatMap((address, i) => Array.from({ length: i + 1 }, () => ({ address, ...this.output() })));
    this.tree(owners, outputs);
    this.range(outputs);
  }

  private output(): csmt.UtxoEntry {
    const { dice } = this;
    return {
      txId: dice.bytes(32),
      index: dice.pick([0, 1, 23, 24, 300]),
      txOut: Uint8Array.of(0x82, 1, 2, ...dice.bytes(20 + dice.below(80))),
    };
  }

  private tree(owners: readonly Uint8Array[], outputs: readonly (csmt.UtxoEntry & { address: Uint8Array })[]): void {
    const nodes = new MemoryNodes();
    const ownerOf = (address: Uint8Array): Uint8Array => ownerHash(this.family, address);
    const { root } = csmt.update(
      nodes,
      nodes,
      outputs.map((entry) => csmt.utxoLeaf(ownerOf(entry.address), entry)),
    );
    const head = this.head(root);
    for (const address of [...owners, this.dice.bytes(29)]) {
      const owner = ownerOf(address);
      const mine = outputs.filter((entry) => entry.address === address);
      const { txId, index, txOut } = mine[0] ?? this.output();
      const complete = csmt.proveCompleteness(nodes, csmt.ownerPrefix(owner)).proof;
      this.add({ ...head, kind: 'csmt-complete', claim: { owner, address, outputs: mine.map(entryOf) }, proof: complete });
      const missing = { txId: this.dice.bytes(32), index: 0 };
      const absence = csmt.proveExclusion(nodes, csmt.utxoKey(owner, missing))!;
      this.add({
        ...head,
        kind: 'csmt-absent',
        claim: { owner, address: this.dice.chance(2) ? address : null, ...missing },
        proof: absence,
      });
      if (mine.length === 0) continue;
      const inclusion = csmt.proveInclusion(nodes, csmt.utxoKey(owner, { txId, index }))!;
      this.add({ ...head, kind: 'csmt-inclusion', claim: { owner, txId, index, txOut }, proof: inclusion });
    }
  }

  private range(outputs: readonly csmt.UtxoEntry[]): void {
    const spaces = memorySpaces();
    const created = outputs.map(({ txId, index, txOut }) => mmr.leafContent(txId, index, txOut));
    const spent = outputs.map((_, i) => i).filter((i) => i % 3 === 0);
    const { mmr: range } = mmr.applyBlock(spaces, spaces, mmr.EMPTY_UTXO_MMR, { created, spent });
    const head = this.head(mmr.rootsOf(range).merged);
    for (const [i, entry] of outputs.entries()) {
      const kind = spent.includes(i) ? 'mmr-spent' : 'mmr-unspent';
      this.add({ ...head, kind, claim: entryOf(entry), proof: mmr.proveUtxo(spaces, range, i) });
    }
  }

  private head(root: Uint8Array | null): Pick<ProofDocument, 'network' | 'family' | 'point' | 'root'> {
    return { network: 'devnet', family: this.family, point: { height: 7, slot: 70, hash: 'ab'.repeat(32) }, root };
  }

  private add(document: ProofDocument): void {
    this.documents.push({ document, root: document.root });
  }
}

function entryOf({ txId, index, txOut }: csmt.UtxoEntry): csmt.UtxoEntry {
  return { txId, index, txOut };
}

/** What somebody would believe: an address may be left out, and outputs of a set have no order. */
function claimOf({ kind, family, root, claim }: ProofDocumentJson): string {
  const { address: _, outputs, ...rest } = claim as { address?: string; outputs?: readonly object[] };
  const sorted = outputs?.map((output) => JSON.stringify(Object.entries(output).sort())).sort();
  return JSON.stringify([kind, family, root, Object.entries(rest).sort(), sorted]);
}

describe('proof documents', () => {
  const dice = new Dice();
  const worlds = FAMILIES.map((family) => new World(dice, family));
  const all = worlds.flatMap(({ documents }) => documents);

  test('hold for their root, and only for that', () => {
    const kinds = new Set(all.map(({ document }) => document.kind));
    assert.equal(kinds.size, 5);
    for (const { document, root } of all) {
      assert.ok(verifyDocument(document, root).ok);
      for (const other of [null, new Uint8Array(32), ...all.map((each) => each.root)]) {
        if (other !== null && root !== null && toHex(other) === toHex(root)) continue;
        const verdict = verifyDocument(document, other);
        assert.ok(!verdict.ok);
        const forged = verifyDocument({ ...document, root: other } as ProofDocument, other);
        assert.ok(!forged.ok, 'a document that names the root it is checked against is checked all the same');
      }
    }
  });

  test('say the same after a round through JSON', () => {
    for (const { document, root } of all) {
      const json = JSON.parse(JSON.stringify(documentToJson(document)));
      assert.deepEqual(documentToJson(documentFromJson(json)), json);
      assert.ok(verifyDocument(documentFromJson(json), root).ok);
      assert.equal('cbor' in json, document.kind.startsWith('csmt'));
    }
  });

  test('write ids as the chain does', () => {
    for (const { document } of all) {
      if (document.kind === 'csmt-complete') continue;
      const { tx_hash } = documentToJson(document).claim as { tx_hash: string };
      const { txId } = document.claim;
      assert.equal(tx_hash, toHex(document.family === 'bitcoin' ? txId.toReversed() : txId));
    }
  });

  test('of the empty tree hold for no root at all', () => {
    const head = { network: 'devnet', family: 'cardano', point: null, root: null } as const;
    const claim = { owner: dice.bytes(32), address: null };
    const absent: ProofDocument = {
      ...head,
      kind: 'csmt-absent',
      claim: { ...claim, txId: dice.bytes(32), index: 0 },
      proof: { type: 'empty' },
    };
    const none = { type: 'empty', exclusion: { type: 'empty' } } as const;
    const complete: ProofDocument = { ...head, kind: 'csmt-complete', claim: { ...claim, outputs: [] }, proof: none };
    for (const document of [absent, complete]) {
      assert.ok(verifyDocument(documentFromJson(documentToJson(document)), null).ok);
      const root = new Uint8Array(32);
      assert.ok(!verifyDocument({ ...document, root }, root).ok);
    }
  });

  test(`${MUTANTS} changed ones make nobody believe another claim`, (t) => {
    const counts = { notOne: 0, refused: 0, same: 0 };
    for (let i = 0; i < MUTANTS; i++) {
      const { document, root } = dice.pick(all);
      const json = documentToJson(document);
      // Without the second form of the proof beside it a change of the first one has to be found by what it shows.
      const { cbor: _, ...bare } = json;
      let changed: unknown = dice.chance(4) ? json : bare;
      for (let times = 1 + (dice.chance(8) ? dice.below(3) : 0); times > 0; times--) changed = spoil(changed, dice);
      let parsed: ProofDocument;
      try {
        parsed = documentFromJson(JSON.parse(JSON.stringify(changed)));
      } catch (error) {
        assert.ok(isUnspentError(error, 'USAGE'), `${error} of ${JSON.stringify(changed).slice(0, 300)}`);
        counts.notOne++;
        continue;
      }
      if (!verifyDocument(parsed, root).ok) counts.refused++;
      else {
        counts.same++;
        assert.equal(claimOf(documentToJson(parsed)), claimOf(json), `seed ${dice.seed}, mutant ${i}`);
      }
    }
    t.diagnostic(`${counts.notOne} are no documents, ${counts.refused} do not hold, ${counts.same} claim the same`);
    assert.ok(counts.refused > MUTANTS / 10 && counts.notOne > MUTANTS / 10 && counts.same < MUTANTS / 10);
  });

  test('what is no document is told with its place', () => {
    const json = documentToJson(all[0].document);
    const wrong: readonly [unknown, RegExp][] = [
      [null, /the document is not an object/],
      [[], /the document is not an object/],
      [{ error: { code: 'NOT_FOUND' } }, /the document has no kind/],
      [{ ...json, kind: 'csmt' }, /kind is none of/],
      [{ ...json, family: 'doge' }, /family is none of/],
      [{ ...json, root: 'ab' }, /root is not 32 bytes/],
      [{ ...json, network: '<b>' }, /network is not a name/],
      [{ ...json, point: { height: 1 } }, /point has no slot/],
      [{ ...json, cbor: `${json.cbor}00` }, /cbor is another proof/],
      [{ ...json, note: '' }, /unknown field note/],
      [{ ...json, claim: { ...json.claim, note: '' } }, /claim has an unknown field note/],
    ];
    for (const [document, message] of wrong) {
      assert.throws(
        () => documentFromJson(document),
        (error) => isUnspentError(error, 'USAGE') && message.test(error.message),
      );
    }
  });
});
