/**
 * The life of a cage from end to end, over real sockets: two users with keys of
 * their own build, sign and submit every transaction of the protocol through a
 * node, the chain turns in the middle, and a reader believes each answer of the
 * service only because it leads to the root that another store, in another
 * process and with another connection, has of the same block.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BuildOptions, CageOperation } from '../../src/cage.ts';
import { cage } from '../../src/proofs/index.ts';
import { fromHex, toHex, utf8 } from '../../src/util/bytes.ts';
import { CageNetwork, CageReader, type CageUser } from '../support/cage-network.ts';
import { timeOf } from '../support/cage-node.ts';
import { signTx } from '../support/sign.ts';

const PHASE_MS = 300_000;
const TERMS = { tip: 1_000_000n, processTime: BigInt(PHASE_MS), retractTime: BigInt(PHASE_MS) };
/** That of the devnet, which allows everything. */
const STATE_CODE = fromHex('450101002499');
const [ALICE, BOB] = [101, 102];

/** What the users know of the token themselves. */
class Expected {
  readonly facts = new Map<string, string>();
  readonly requests = new Set<string>();
  owner: string;

  constructor(owner: string) {
    this.owner = owner;
  }

  /** The reader is shown exactly this, and nothing else. */
  async isShown(reader: CageReader): Promise<void> {
    assert.equal(await reader.isListed(), true);
    assert.equal(await reader.owner(), this.owner);
    assert.deepEqual(await reader.requests(), [...this.requests].sort());
    assert.deepEqual(new Map([...(await reader.facts())].sort()), new Map([...this.facts].sort()));
    for (const [key, value] of this.facts) assert.equal(await reader.fact(key), value);
    await reader.absent('00ff');
  }
}

const bytes = (text: string): Uint8Array => utf8(text);
const insert = (value: Uint8Array): CageOperation => ({ type: 'insert', value });
const optionsOf = ({ address }: CageUser): BuildOptions => ({ address, stateScript: STATE_CODE });

test('two users take a token through its life, across rollbacks, and every answer is verified', async (t) => {
  const network = await CageNetwork.start(t, 21, [ALICE, BOB]);
  const { chain } = network;
  const [alice, bob] = [network.user(ALICE), network.user(BOB)];
  await network.settled();

  const { token } = await network.send(alice, alice.cage.txBuilder.boot({ ...optionsOf(alice), terms: TERMS }));
  const reader = new CageReader(network, token);
  const expected = new Expected(alice.keyHash);
  const ask = async (user: CageUser, key: string, operation: CageOperation): Promise<string> => {
    const { id } = await network.send(user, user.cage.txBuilder.request(token, fromHex(key), operation, optionsOf(user)));
    expected.requests.add(`${id}#0`);
    return `${id}#0`;
  };
  await expected.isShown(reader);

  // Requests, and an update that takes those that are asked for.
  const binary = toHex(Uint8Array.of(0xff, 0x00, 0xc3));
  const first = await ask(bob, toHex(bytes('a')), insert(bytes('1')));
  const second = await ask(bob, toHex(bytes('b')), insert(bytes('2')));
  const third = await ask(alice, binary, insert(Uint8Array.of(0xfe, 0x80)));
  await expected.isShown(reader);
  const update = await network.send(alice, alice.cage.txBuilder.update(token, { ...optionsOf(alice), requests: [first, second, third] }));
  for (const ref of [first, second, third]) expected.requests.delete(ref);
  for (const [key, value] of [
    [toHex(bytes('a')), '31'],
    [toHex(bytes('b')), '32'],
    [binary, 'fe80'],
  ])
    expected.facts.set(key, value);
  await expected.isShown(reader);

  // A turn of the chain: the node mines the dropped transactions again, the users do nothing.
  const before = chain.tip.point!;
  chain.fork(4);
  await network.settled();
  await alice.cage.indexer.waitForTx(update.id);
  await expected.isShown(reader);
  assert.equal(await network.problem(`tx/${update.id}?timeout=1`), undefined);
  assert.notDeepEqual(chain.blocks.find(({ height }) => height === chain.tip.height - 1)?.hash, before.hash, 'another chain');

  // A delete and an update of facts, in one transaction that also hands the token over.
  const gone = await ask(bob, toHex(bytes('a')), { type: 'delete', value: bytes('1') });
  const changed = await ask(bob, toHex(bytes('b')), { type: 'update', before: bytes('2'), after: bytes('two') });
  await network.send(alice, alice.cage.txBuilder.update(token, { ...optionsOf(alice), newOwner: bob.keyHash }));
  for (const ref of [gone, changed]) expected.requests.delete(ref);
  expected.facts.delete(toHex(bytes('a')));
  expected.facts.set(toHex(bytes('b')), toHex(bytes('two')));
  expected.owner = bob.keyHash;
  await expected.isShown(reader);
  await reader.absent(toHex(bytes('a')));
  await assert.rejects(alice.cage.txBuilder.update(token, optionsOf(alice)), { code: 'USAGE' }, 'it is no longer hers');

  // Two requests that nobody applies: one is taken back in its time, the other rejected in its own.
  const asked = timeOf(chain);
  const regretted = await ask(alice, toHex(bytes('c')), insert(bytes('3')));
  const expired = await ask(alice, toHex(bytes('d')), insert(bytes('4')));
  await assert.rejects(bob.cage.txBuilder.end(token, optionsOf(bob)), { code: 'CAGE_CONFLICT' }, 'requests wait');
  await network.passTo(asked + PHASE_MS + 60_000);
  const retract = await alice.cage.txBuilder.retract(regretted, optionsOf(alice));
  await assert.rejects(alice.cage.submitter.submit(retract.tx), { code: 'TX_REFUSED' }, 'nobody has signed');
  await assert.rejects(alice.cage.submitter.submit(signTx(retract.tx, bob.wallet)), { code: 'TX_REFUSED' }, 'somebody else has');
  await network.send(alice, Promise.resolve(retract));
  expected.requests.delete(regretted);
  await expected.isShown(reader);

  // The chain goes back to before the time of the retraction: the node drops it, and the request waits again.
  chain.rollback(8);
  assert.deepEqual(chain.pending(), []);
  chain.mine(6);
  await network.settled();
  expected.requests.add(regretted);
  await expected.isShown(reader);
  await assert.rejects(alice.cage.indexer.waitForTx(retract.id, { timeoutMs: 10 }), { code: 'NOT_YET' });
  await network.passTo(asked + PHASE_MS + 60_000);
  await network.send(alice, Promise.resolve(retract));
  expected.requests.delete(regretted);
  await expected.isShown(reader);

  await network.passTo(asked + 2 * PHASE_MS + 100_000);
  const reject = await network.send(bob, bob.cage.txBuilder.reject(token, optionsOf(bob)));
  assert.deepEqual(reject.taken, [expired]);
  expected.requests.delete(expired);
  await expected.isShown(reader);
  await reader.absent(toHex(bytes('d')));

  // An answer of an earlier block is believed with the root of that block, and with no other.
  const { answer } = await network.ask('tokens');
  await network.send(bob, bob.cage.txBuilder.end(token, optionsOf(bob)));
  assert.equal(await reader.isListed(), false);
  assert.equal(await network.problem(`tokens/${token.replace('.', '')}`), 'NOT_FOUND');
  const { trust } = await network.ask('tokens');
  assert.equal(cage.verifyTokensAnswer(answer, trust).ok, false);

  // The two stores are one: the ledger's own account of what is unspent is theirs, too.
  assert.equal(network.store.digest().digest, chain.digest());
});
