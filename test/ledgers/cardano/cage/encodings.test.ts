/**
 * The protocol against its vectors: datums and redeemers both ways, names of
 * tokens, scripts and addresses, live outputs of preprod, and what each sample
 * transaction amounts to.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatAddress } from '../../../../src/ledgers/cardano/address.ts';
import {
  type CageDatum,
  type CageEvent,
  type CageOperation,
  type CageOutput,
  cageTokenName,
  decodeCageDatum,
  decodeMintRedeemer,
  decodeSpendRedeemer,
  detectCage,
  encodeCageDatum,
  encodeMintRedeemer,
  encodeSpendRedeemer,
  type MintRedeemer,
  PUBLIC_CAGES,
  readOperation,
  type SpendRedeemer,
  writeOperation,
} from '../../../../src/ledgers/cardano/cage/index.ts';
import { describeOutput } from '../../../../src/ledgers/cardano/describe.ts';
import { describeTx } from '../../../../src/ledgers/cardano/transaction.ts';
import { MemoryNodes, mpf } from '../../../../src/proofs/index.ts';
import { compareBytes, concatBytes, equalBytes, fromHex, toHex, utf8 } from '../../../../src/util/bytes.ts';
import { Cursor } from '../../../../src/util/cbor.ts';
import { CborWriter } from '../../../../src/util/cbor-write.ts';
import { needsFixtures, readFixtureText } from '../../../support/fixtures.ts';

interface Encoding {
  readonly name: string;
  readonly cbor: string;
}

interface Encodings {
  readonly encodings: readonly Encoding[];
  readonly assetNames: readonly { readonly txId: string; readonly index: number; readonly assetName: string }[];
  readonly scripts: readonly {
    readonly version: string;
    readonly scriptHash: string;
    readonly testnetAddress?: string;
    readonly mainnetAddress?: string;
  }[];
  readonly transactions: readonly { readonly name: string; readonly cbor: string; readonly policyId: string }[];
}

const read = <T>(file: string): T => JSON.parse(readFixtureText('spec', 'vectors', file)) as T;
const times = (byte: string, count: number): Uint8Array => fromHex(byte.repeat(count));

const state = { owner: times('aa', 28), root: times('bb', 32) };
const terms = { tip: 2_000_000n, processTime: 300_000n, retractTime: 600_000n };
const asked = { token: times('cc', 32), owner: times('dd', 28) };
const key = fromHex('010203');
const since = { tip: 1_000_000n, submittedAt: 1_700_000_000_000n };
const insert: CageOperation = { type: 'insert', value: fromHex('0405') };
const request = (operation: CageOperation, rest: object = { key, terms: since }): CageDatum =>
  ({ type: 'request', request: { ...asked, key, terms: since, ...rest, operation } }) as CageDatum;

const DATUMS: Readonly<Record<string, CageDatum>> = {
  'CageDatum/StateDatum (v1,v2)': { type: 'state', state: { ...state, terms } },
  'CageDatum/StateDatum (v0)': { type: 'state', state: { ...state, terms: null } },
  'CageDatum/RequestDatum insert (v1,v2)': request(insert),
  'CageDatum/RequestDatum delete (v1,v2)': request({ type: 'delete', value: fromHex('0405') }),
  'CageDatum/RequestDatum update (v1,v2)': request({ type: 'update', before: fromHex('0405'), after: fromHex('0607') }),
  'CageDatum/RequestDatum insert, value of 100 bytes (chunked bytes)': request(
    { type: 'insert', value: Uint8Array.from({ length: 100 }, (_, i) => i) },
    { key: utf8('k'), terms: { tip: 0n, submittedAt: 0n } },
  ),
  'CageDatum/RequestDatum insert (v0)': request(insert, { terms: null }),
};

const OPERATIONS: Readonly<Record<string, CageOperation>> = {
  'Operation insert': insert,
  'Operation delete': { type: 'delete', value: fromHex('aabb') },
  'Operation update': { type: 'update', before: fromHex('0102'), after: fromHex('0304') },
};

const seed = { txId: times('ab', 32), index: 1 };
const MINTS: Readonly<Record<string, readonly [MintRedeemer, 'v0' | 'v1' | 'v2']>> = {
  'MintRedeemer Minting(seed) (v2)': [{ type: 'minting', seed }, 'v2'],
  'MintRedeemer Minting(Mint{asset}) (v0,v1)': [{ type: 'minting', seed }, 'v1'],
  'MintRedeemer Migrating (v1,v2)': [{ type: 'migrating', oldPolicy: times('11', 28), token: times('cc', 32) }, 'v2'],
  'MintRedeemer Burning(token) (v2)': [{ type: 'burning', token: times('cc', 32) }, 'v2'],
  'MintRedeemer Burning (v1)': [{ type: 'burning', token: null }, 'v1'],
  'MintRedeemer Burning (v0)': [{ type: 'burning', token: null }, 'v0'],
};

const ref = { txId: times('ee', 32), index: 0 };
const leaf = fromHex('9fd87b9f0041aa41bbffff');
const branch = concatBytes(fromHex('9fd8799f015f5840'), new Uint8Array(64), fromHex('5840'), new Uint8Array(64), fromHex('ffffff'));
const none = fromHex('80');
const SPENDS: Readonly<Record<string, SpendRedeemer>> = {
  'UpdateRedeemer End (all)': { type: 'end' },
  'UpdateRedeemer Contribute(stateRef) (all)': { type: 'contribute', state: ref },
  'UpdateRedeemer Modify [] (v2)': { type: 'modify', actions: [], bare: false },
  'UpdateRedeemer Modify [UpdateAction [Leaf 0 aa bb], Rejected, UpdateAction [Branch 1 00*128]] (v1.1+)': {
    type: 'modify',
    actions: [{ type: 'apply', proof: leaf }, { type: 'reject' }, { type: 'apply', proof: branch }],
    bare: false,
  },
  'UpdateRedeemer Modify [Rejected, Rejected] (v1.1+)': { type: 'modify', actions: [{ type: 'reject' }, { type: 'reject' }], bare: false },
  'UpdateRedeemer Modify [UpdateAction []] (v1.1+)': { type: 'modify', actions: [{ type: 'apply', proof: none }], bare: false },
  'UpdateRedeemer Modify [[Leaf 0 aa bb], []] (v0,v1.0: list of proofs)': {
    type: 'modify',
    actions: [
      { type: 'apply', proof: leaf },
      { type: 'apply', proof: none },
    ],
    bare: true,
  },
  'UpdateRedeemer Retract(stateRef) (v1,v2)': { type: 'retract', state: ref },
  'UpdateRedeemer Retract (v0)': { type: 'retract', state: null },
  'UpdateRedeemer Sweep(stateRef) (v2)': { type: 'sweep', state: ref },
  'UpdateRedeemer Reject (v1.0 only)': { type: 'reject' },
};

/** The same data with every list of a given length: what another library may write. */
function definite(c: Cursor, w: CborWriter): void {
  const major = c.peek();
  if (major === 6) definite(c, w.tag(c.tag()));
  else if (major === 4) {
    const items: Uint8Array[] = [];
    for (let i = 0, n = c.array(); c.more(n, i); i++) {
      const inner = new CborWriter();
      definite(c, inner);
      items.push(inner.take());
    }
    w.array(items.length);
    for (const item of items) w.raw(item);
  } else if (major === 2) w.bytes(c.byteString());
  else w.int(c.bigInt());
}

function redone(bytes: Uint8Array): Uint8Array {
  const w = new CborWriter();
  definite(new Cursor(bytes), w);
  return w.take();
}

/** The same data with tag 102, which names any constructor. */
function general(bytes: Uint8Array): Uint8Array {
  const c = new Cursor(bytes);
  const alternative = c.tag() - 121;
  return concatBytes(fromHex('d86682'), Uint8Array.of(alternative), bytes.subarray(c.at));
}

describe('cage encodings', needsFixtures, () => {
  const vectors = needsFixtures.skip === false ? read<Encodings>('cage-encodings.json') : null;
  const all = vectors?.encodings ?? [];
  const bytesOf = (name: string): Uint8Array => fromHex(all.find((each) => each.name === name)!.cbor);

  test('every vector is one of ours', () => {
    const known = [DATUMS, OPERATIONS, MINTS, SPENDS].flatMap((table) => Object.keys(table));
    assert.deepEqual(all.map(({ name }) => name).sort(), known.sort());
  });

  test('datums, both ways, and in other encodings of the same data', () => {
    for (const [name, datum] of Object.entries(DATUMS)) {
      const bytes = bytesOf(name);
      assert.deepEqual(decodeCageDatum(bytes), datum, name);
      assert.equal(toHex(encodeCageDatum(datum)), toHex(bytes), name);
      assert.deepEqual(decodeCageDatum(redone(bytes)), datum, `${name}, definite`);
      assert.deepEqual(decodeCageDatum(general(bytes)), datum, `${name}, tag 102`);
    }
  });

  test('operations and redeemers, both ways', () => {
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      assert.deepEqual(readOperation(new Cursor(bytesOf(name))), operation, name);
      assert.equal(toHex(writeOperation(new CborWriter(), operation).take()), toHex(bytesOf(name)));
    }
    for (const [name, [redeemer, version]] of Object.entries(MINTS)) {
      assert.deepEqual(decodeMintRedeemer(bytesOf(name)), redeemer, name);
      assert.deepEqual(decodeMintRedeemer(redone(bytesOf(name))), redeemer, `${name}, definite`);
      assert.equal(toHex(encodeMintRedeemer(redeemer, version)), toHex(bytesOf(name)), name);
    }
    for (const [name, redeemer] of Object.entries(SPENDS)) {
      assert.deepEqual(decodeSpendRedeemer(bytesOf(name)), redeemer, name);
      assert.equal(toHex(encodeSpendRedeemer(redeemer)), toHex(bytesOf(name)), name);
    }
  });

  test('a datum that is cut, has a byte behind it or one byte changed decodes to another one or to none, and never throws', () => {
    for (const name of Object.keys(DATUMS)) {
      const bytes = bytesOf(name);
      for (let end = 0; end < bytes.length; end++) assert.equal(decodeCageDatum(bytes.subarray(0, end)), null);
      assert.equal(decodeCageDatum(concatBytes(bytes, Uint8Array.of(0))), null);
      for (let i = 0; i < bytes.length; i++) {
        for (const flip of [1, 2, 0x20, 0x80, 0xff]) {
          const datum = decodeCageDatum(bytes.with(i, bytes[i] ^ flip));
          if (datum !== null) assert.notDeepEqual(datum, DATUMS[name]);
        }
      }
    }
    for (const wrong of ['', '00', 'd87b9fff', 'd87a9fd87a9fffff', 'd8799fd8799fd8799f4100ff581b', 'c249010000000000000000']) {
      assert.equal(decodeCageDatum(fromHex(wrong)), null);
    }
  });

  test('names of tokens, scripts and addresses', () => {
    for (const { txId, index, assetName } of vectors!.assetNames) {
      assert.equal(toHex(cageTokenName({ txId: fromHex(txId), index })), assetName);
    }
    const scripts = vectors!.scripts.filter(({ scriptHash }) => scriptHash.length === 56);
    for (const { scriptHash, testnetAddress, mainnetAddress } of scripts) {
      assert.equal(formatAddress(fromHex(`70${scriptHash}`)), testnetAddress);
      assert.equal(formatAddress(fromHex(`71${scriptHash}`)), mainnetAddress);
    }
    const known = PUBLIC_CAGES.map(({ version, stateScriptHash }) => `${version} ${toHex(stateScriptHash)}`);
    assert.deepEqual(
      scripts
        .filter(({ version }) => !version.includes('instance'))
        .map(({ version, scriptHash }) => `${version.slice(0, 2)} ${scriptHash}`),
      known,
    );
  });

  test('what the sample transactions amount to', () => {
    const found = vectors!.transactions.map(({ name, cbor, policyId }) => [name, eventsOf(fromHex(cbor), fromHex(policyId))]);
    assert.deepEqual(Object.fromEntries(found), {
      boot: ['boot'],
      burn: ['burn'],
      'request-insert': ['request'],
      'request-delete': ['request'],
      'request-update': ['request'],
      update: ['update'],
      'update-multi': ['update'],
      retract: ['retract'],
      plain: [],
      'boot-request': ['boot', 'request'],
    });
  });
});

/** Of a whole transaction `[body, witnesses, valid, auxiliary]`. What its inputs are the samples do not say: a state first, then requests. */
function eventsOf(bytes: Uint8Array, policy: Uint8Array): string[] {
  const c = new Cursor(bytes);
  c.array();
  const start = c.at;
  c.skip();
  const body = describeTx(bytes, start, c.at, true);
  const redeemers = new Map<string, Uint8Array>();
  for (let i = 0, fields = c.map(); c.more(fields, i); i++) {
    if (c.uint() !== 5) {
      c.skip();
      continue;
    }
    for (let j = 0, n = c.map(); c.more(n, j); j++) {
      c.array();
      const place = `${c.uint() === 0 ? 'spend' : 'mint'} ${c.uint()}`;
      c.array();
      const at = c.at;
      c.skip();
      redeemers.set(place, bytes.slice(at, c.at));
      c.skip();
    }
  }
  const output = (index: number, { address, assets, inlineDatum }: ReturnType<typeof describeOutput>): CageOutput => ({
    ...{ txId: body.id, index, slot: 1, txIndex: 0, assets, datum: inlineDatum },
    scriptHash: address[0] === 0x70 ? address.slice(1) : null,
  });
  const first = decodeSpendRedeemer(redeemers.get('spend 0') ?? new Uint8Array(0));
  const token = body.outputs[0]?.assets[0]?.name ?? times('aa', 32);
  const inputs = [...body.inputs]
    .sort((a, b) => compareBytes(a.txId, b.txId))
    .map(({ txId, index }, place): CageOutput | null => {
      if (redeemers.size === 0 || (first === null && body.mint.length > 0)) return null;
      // As many requests as there are actions: none are there in the samples.
      if (first?.type === 'modify' && place > first.actions.length) return null;
      const isState = place === (first?.type === 'retract' ? 1 : 0);
      const datum = isState
        ? null
        : encodeCageDatum({ type: 'request', request: { ...asked, token, key, operation: insert, terms: since } });
      const assets = isState && first?.type !== 'retract' ? [{ policy, name: token, quantity: 1n }] : [];
      return { txId, index, slot: 0, txIndex: 0, scriptHash: policy, assets, datum };
    });
  const deployment = { version: 'v2', stateScriptHash: policy, requestProgram: null } as const;
  const tx = {
    ...{ id: body.id, inputs, mint: body.mint },
    outputs: body.outputs.map((each) => output(each.index, each)),
    redeemer: (purpose: string, index: number) => redeemers.get(`${purpose} ${index}`) ?? null,
  };
  const { events, malformed } = detectCage(tx, { deployments: [deployment], isRequestScript: () => false });
  assert.equal(malformed, 0);
  return events.map((event: CageEvent) => event.type);
}

interface Live {
  readonly tokenWithFacts: {
    readonly txOut: string;
    readonly root: string;
    readonly facts: readonly { readonly key: string; readonly value: string }[];
    readonly factProof: { readonly keyHex: string; readonly valueHex: string; readonly mpfProofCbor: string };
  };
  readonly freshToken: { readonly txOut: string; readonly root: string };
  readonly v0Token: { readonly txOut: string; readonly root: string; readonly tokenId: string };
  readonly pendingRequests: readonly { readonly txOut: string }[];
}

describe('cages of preprod', needsFixtures, () => {
  const live = needsFixtures.skip === false ? read<Live>('cage-preprod.json') : null;

  test('states decode, and encode to the same bytes', () => {
    for (const [{ txOut, root }, version] of [
      [live!.tokenWithFacts, 'v2'],
      [live!.freshToken, 'v2'],
      [live!.v0Token, 'v0'],
    ] as const) {
      const { inlineDatum, address, assets } = describeOutput(fromHex(txOut));
      const datum = decodeCageDatum(inlineDatum!);
      assert.ok(datum?.type === 'state');
      assert.equal(toHex(datum.state.root), root);
      assert.equal(datum.state.terms === null, version === 'v0');
      assert.equal(toHex(encodeCageDatum(datum)), toHex(inlineDatum!));
      const deployment = PUBLIC_CAGES.find((each) => each.version === version)!;
      assert.ok(
        equalBytes(address.subarray(1, 29), deployment.stateScriptHash) && equalBytes(assets[0].policy, deployment.stateScriptHash),
      );
    }
    assert.equal(toHex(describeOutput(fromHex(live!.v0Token.txOut)).assets[0].name), live!.v0Token.tokenId);
  });

  test('requests decode, and encode to the same bytes', () => {
    assert.ok(live!.pendingRequests.length > 0);
    for (const { txOut } of live!.pendingRequests) {
      const { inlineDatum } = describeOutput(fromHex(txOut));
      const datum = decodeCageDatum(inlineDatum!);
      assert.ok(datum?.type === 'request');
      assert.equal(toHex(encodeCageDatum(datum)), toHex(inlineDatum!));
    }
  });

  test('facts build the root, and the proof of one leads to it', () => {
    const { root, facts, factProof } = live!.tokenWithFacts;
    const nodes = new MemoryNodes();
    mpf.update(
      nodes,
      nodes,
      facts.map((fact) => ({ key: fromHex(fact.key), value: fromHex(fact.value) })),
    );
    assert.equal(toHex(mpf.root(nodes)), root);
    const proof = mpf.decode(fromHex(factProof.mpfProofCbor));
    assert.deepEqual(mpf.verifyPresence(fromHex(root), fromHex(factProof.keyHex), fromHex(factProof.valueHex), proof), { ok: true });
  });
});
