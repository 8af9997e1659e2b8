/**
 * True documents turned into false ones, by name, and every field of every kind
 * of document changed in every way there is: nobody who knows the root and its
 * network believes anything that is not so.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  csmt,
  documentFromJson,
  documentToJson,
  type FamilyName,
  type ProofDocument,
  type ProofDocumentJson,
  verifyDocument,
} from '../../src/proofs/index.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { DocumentWorld, FAMILIES, meaningOf, NETWORKS } from './document-world.ts';
import { everyChange } from './spoil.ts';
import { Dice } from './support.ts';

const other = (family: FamilyName): FamilyName => (family === 'cardano' ? 'bitcoin' : 'cardano');

/** The same bytes said to be of the other family: the ids of the claim are then read from the other end. */
function turned(json: ProofDocumentJson): ProofDocumentJson {
  const family = other(json.family);
  return { ...json, family, network: NETWORKS[family] };
}

for (const family of FAMILIES) {
  describe(`a true document of the ${family} family does not become a false one`, () => {
    const dice = new Dice();
    const world = new DocumentWorld(dice, family);
    const { outputs, treeRoot } = world;
    const [unspent] = outputs;
    const backwards = { txId: unspent.txId.toReversed(), index: unspent.index };

    const assertRefused = (json: unknown, why: RegExp, root = treeRoot): void => {
      const verdict = verifyDocument(documentFromJson(json), world.trusted(root));
      assert.ok(!verdict.ok, 'it is believed');
      assert.match(verdict.why, why);
    };

    test('the absence of reverse(T)#i, said to be of the other family, is not the absence of T#i', () => {
      const absent = documentToJson(world.absence(unspent.address, backwards));
      assert.ok(verifyDocument(documentFromJson(absent), world.trusted(treeRoot)).ok, 'it is true as it stands');
      const { address: _, ...claim } = absent.claim as { address?: string };
      for (const attempt of [{ ...turned(absent), claim }, turned(absent), { ...absent, family: other(family), claim }]) {
        assertRefused(attempt, /of the (cardano|bitcoin) family, and the root is of the/);
        // Whoever believes the family of the document reads another transaction id in it.
        const read = documentFromJson(attempt) as ProofDocument & { claim: csmt.Outpoint };
        assert.deepEqual(read.claim.txId, unspent.txId);
      }
    });

    test('nor is the inclusion, the complete set or the leaf of an output one of reverse(T)', () => {
      for (const { document } of world.cases) {
        assertRefused(turned(documentToJson(document)), /family, and the root is of the/, document.root!);
      }
    });

    test('a network of the other family is refused, and another one of the same family too', () => {
      const json = documentToJson(world.inclusion(unspent));
      assertRefused({ ...json, network: NETWORKS[other(family)] }, /is about .*, and the root is of/);
      assertRefused({ ...json, network: family === 'cardano' ? 'preview' : 'litecoin' }, /is about .*, and the root is of/);
    });

    test('an owner is the hash of an address, and of which one is said', () => {
      for (const document of [world.absence(unspent.address, backwards), world.complete(unspent.address)]) {
        const json = documentToJson(document);
        const { address, ...claim } = json.claim as { address?: string };
        assert.ok(address !== undefined);
        assertRefused({ ...json, claim: { ...claim, address: '00'.repeat(29) } }, /not that of the owner/);
        if (family === 'cardano') assertRefused({ ...json, claim }, /address of the owner is missing/);
        else assert.ok(verifyDocument(documentFromJson({ ...json, claim }), world.trusted(treeRoot)).ok, 'a script hash is a name');
      }
    });

    test('an output belongs to the owner its own bytes name', () => {
      // A tree in which the output of one stands at the place of another: no chain leads to it, but a proof must not depend on that.
      const owner = world.ownerOf(outputs[1].address);
      const foreign = { txId: unspent.txId, index: unspent.index, txOut: unspent.txOut };
      const root = csmt.update(world.tree, world.tree, [csmt.utxoLeaf(owner, foreign)]).root!;
      const proof = csmt.proveInclusion(world.tree, csmt.utxoKey(owner, foreign))!;
      const head = world.head(root);
      assertRefused(documentToJson({ ...head, kind: 'csmt-inclusion', claim: { owner, ...foreign }, proof }), /not of that owner/, root);
      const set = csmt.proveCompleteness(world.tree, csmt.ownerPrefix(owner));
      const mine = outputs
        .filter(({ address }) => address === outputs[1].address)
        .map(({ txId, index, txOut }) => ({ txId, index, txOut }));
      const claim = { owner, address: outputs[1].address, outputs: [...mine, foreign] };
      assertRefused(documentToJson({ ...head, kind: 'csmt-complete', claim, proof: set.proof }), /not of that owner/, root);
    });

    test('bytes that are an output of the other family are not one of this', () => {
      const [theirs] = new DocumentWorld(dice, other(family)).outputs;
      const json = documentToJson(world.cases.at(-1)!.document);
      const { root } = world.cases.at(-1)!.trusted;
      for (const output of [theirs.txOut, Uint8Array.of(...unspent.txOut, 0)]) {
        const claim = { ...json.claim, output: Buffer.from(output).toString('hex') };
        assertRefused({ ...json, claim }, /are not an output of the (cardano|bitcoin) family/, root!);
      }
    });

    test('an outpoint that was created twice has a proof for each leaf, and they are different claims', () => {
      const mine = world.cases.filter(({ document }) => 'txOut' in document.claim && document.claim.txId === unspent.txId);
      const range = mine.filter(({ document }) => document.kind.startsWith('mmr')).map(({ document }) => documentToJson(document));
      assert.deepEqual(
        range.map(({ kind, proof }) => [kind, 'leaf' in proof && proof.leaf.leafIndex]),
        [
          ['mmr-spent', '0'],
          ['mmr-unspent', `${outputs.length}`],
        ],
      );
      assert.deepEqual(range[0].claim, range[1].claim);
      assert.notEqual(meaningOf(range[0]), meaningOf({ ...range[1], kind: range[0].kind }));
    });

    test('every field of every kind of document, changed in every way', (t) => {
      const counts = { notOne: 0, refused: 0, same: 0 };
      const kinds = new Map(world.cases.map((each) => [each.document.kind + ('address' in each.document.claim), each]));
      assert.equal(kinds.size, 5);
      for (const { document, trusted } of kinds.values()) {
        const json = documentToJson(document);
        // Without the second form of the proof beside it a change of the first one has to be found by what it shows.
        const { cbor: _, ...bare } = json;
        for (const changed of [...everyChange(json), ...everyChange(bare)]) {
          let parsed: ProofDocument;
          try {
            parsed = documentFromJson(changed);
          } catch (error) {
            assert.ok(isUnspentError(error, 'USAGE'), String(error));
            counts.notOne++;
            continue;
          }
          if (!verifyDocument(parsed, trusted).ok) counts.refused++;
          else {
            assert.equal(meaningOf(documentToJson(parsed)), meaningOf(json), JSON.stringify(changed).slice(0, 400));
            counts.same++;
          }
        }
      }
      t.diagnostic(`${counts.notOne} are no documents, ${counts.refused} do not hold, ${counts.same} say the same`);
      assert.ok(counts.refused > 200 && counts.notOne > 500);
    });
  });
}
