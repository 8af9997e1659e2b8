/**
 * What we derive, make and sign against a real node: its descriptors and
 * addresses are ours, it reads our PSBTs as we do, and its mempool and its
 * blocks take our transactions, alone and signed half by us, half by its wallet.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bitcoinNetwork, formatAddress, formatId, parseAddress, parseId } from '../../../../src/ledgers/bitcoin/index.ts';
import { fromHex, toHex } from '../../../../src/util/bytes.ts';
import {
  accountDescriptor,
  combinePsbts,
  createPsbt,
  type DerivedScript,
  extractTx,
  finalisePsbt,
  formatPsbt,
  inspectPsbt,
  type KeyRing,
  masterOf,
  openKeyRing,
  type PsbtInput,
  type PsbtOutput,
  parseDescriptor,
  parsePsbt,
  signPsbt,
  updatePsbt,
} from '../../../../src/wallet/bitcoin/keys/index.ts';
import { type CoreNode, startNode } from '../../../support/core-node.ts';
import { nodeMissing } from '../../../support/node-kinds.ts';

const network = bitcoinNetwork('litecoin-regtest');
const secret = { kind: 'seed', seed: fromHex('000102030405060708090a0b0c0d0e0f') } as const;
const COIN = 100_000_000n;
const FEE = 50_000n;

const master = masterOf(network, secret);
assert.ok(master !== null);
const tpub = master.publicExtendedKey;
const other = 'tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B';

/** Of the kinds that the node knows; it knows no `tr`. */
const DESCRIPTORS = [
  ...([44, 49, 84] as const).map((purpose) => accountDescriptor(network, master, { purpose, account: 0 })),
  `wsh(multi(2,[3442193e]${tpub}/<0;1>/*,${other}/<5;6>/*))`,
  `wsh(sortedmulti(1,${tpub}/<0;1>/*,${other}/<0;1>/*))`,
  `sh(wsh(multi(1,${tpub}/<2;3>/7/*)))`,
  `sh(multi(2,${tpub}/<0;1>/*,${tpub}/<2;3>/*,${other}/0/*))`,
  `sh(sortedmulti(1,${tpub}/0/*,${other}/0/*))`,
  `wsh(multi(16,${Array.from({ length: 16 }, (_, i) => `${tpub}/${i}/*`)}))`,
];

describe('against a node', { skip: nodeMissing() }, () => {
  let node: CoreNode;
  let ring: KeyRing;
  before(async () => {
    node = await startNode({ args: ['-txindex=1'] });
    ring = openKeyRing(network, secret);
    await node.rpc('createwallet', 'w');
    await node.rpc('generatetoaddress', 101, await node.rpc('getnewaddress'));
  });
  after(async () => {
    ring?.wipe();
    await node?.stop();
  });

  /** Pays to the scripts in one transaction, and has it in a block. */
  async function fund(owners: readonly DerivedScript[], amount = COIN): Promise<PsbtInput[]> {
    const addresses = owners.map(({ script }) => formatAddress(network, script) ?? assert.fail('no address'));
    const txid = await node.rpc('sendmany', '', Object.fromEntries(addresses.map((address) => [address, Number(amount) / 1e8])));
    await mine();
    const { hex, vout } = await node.rpc('getrawtransaction', txid, true);
    return owners.map((owner) => {
      const { n } = vout.find((output: { scriptPubKey: { hex: string } }) => output.scriptPubKey.hex === toHex(owner.script));
      return { txid: parseId(txid), index: n, amount, owner, previousTx: fromHex(hex) };
    });
  }

  async function mine(): Promise<void> {
    await node.rpc('generatetoaddress', 1, await node.rpc('getnewaddress'));
  }

  async function paymentTo(amount: bigint): Promise<PsbtOutput> {
    return { script: parseAddress(network, await node.rpc('getnewaddress')), amount };
  }

  async function confirm(raw: Uint8Array, txid: Uint8Array): Promise<void> {
    const [accepted] = await node.rpc('testmempoolaccept', [toHex(raw)]);
    assert.deepEqual([accepted.allowed, accepted['reject-reason']], [true, undefined]);
    assert.equal(await node.rpc('sendrawtransaction', toHex(raw)), formatId(txid));
    await mine();
    assert.equal((await node.rpc('getrawtransaction', formatId(txid), true)).confirmations, 1);
  }

  test('descriptors and addresses are its own', async () => {
    for (const text of DESCRIPTORS) {
      const descriptor = parseDescriptor(network, text);
      for (let branch = 0; branch < descriptor.branchCount; branch++) {
        const printed = descriptor.branch(branch).toString();
        // It writes an apostrophe where we write h, so its checksum is another one; ours it takes.
        const info = await node.rpc('getdescriptorinfo', printed);
        assert.equal(info.descriptor.split('#')[0], printed.split('#')[0].replace(/\/(\d+)h/g, "/$1'"));
        assert.deepEqual([info.isrange, info.hasprivatekeys], [true, false]);
        const addresses = await node.rpc('deriveaddresses', printed, [0, 4]);
        const ours = [0, 1, 2, 3, 4].map((index) => formatAddress(network, descriptor.derive(branch, index)[0].script));
        assert.deepEqual(ours, addresses, printed);
      }
    }
  });

  test('it finds on its chain what we say combo and bare multisig are', async () => {
    const combo = parseDescriptor(network, `combo(${tpub}/9/*)`);
    const bare = parseDescriptor(network, `multi(1,${other}/9/*,${tpub}/9/*)`);
    const owners = [...combo.derive(0, 3), ...bare.derive(0, 3)];
    // Those without an address are paid by blocks.
    await fund(owners.filter(({ script }) => formatAddress(network, script) !== null));
    const hex = (owner: DerivedScript): string[] => owner.keys.map(({ publicKey }) => toHex(publicKey));
    for (const text of [`pk(${hex(owners[0])})`, `multi(1,${hex(owners[4])})`]) {
      await node.rpc('generatetodescriptor', 1, parseDescriptor(network, text).toString());
    }
    const found = await node.rpc(
      'scantxoutset',
      'start',
      [`${combo}`, `${bare}`].map((desc) => ({ desc, range: 5 })),
    );
    assert.deepEqual(
      found.unspents.map(({ scriptPubKey }: { scriptPubKey: string }) => scriptPubKey).sort(),
      owners.map(({ script }) => toHex(script)).sort(),
    );
  });

  test('it refuses what we refuse', async () => {
    const texts = [`wpkh(${tpub}/2147483648)`, `sh(sh(pk(${tpub})))`, `wpkh(${tpub})#aaaaaaaa`, `multi(2,${tpub})`];
    for (const text of texts) {
      await assert.rejects(node.rpc('getdescriptorinfo', text), { code: -5 }, text);
      assert.throws(() => parseDescriptor(network, text), { code: 'DESCRIPTOR_INVALID' }, text);
    }
  });

  test('a transaction that spends every kind of output', async () => {
    const kinds = ['pkh', 'wpkh', 'sh(wpkh', 'tr'].map((kind) => `${kind}(${tpub}/0/*)${kind.includes('(') ? ')' : ''}`);
    const many = ['wsh(multi(2,', 'sh(wsh(multi(2,', 'sh(multi(2,'].map(
      (kind) => `${kind}${tpub}/1/*,${tpub}/2/*)${')'.repeat(kind.split('(').length - 2)}`,
    );
    const tree = `tr(50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0,{pk(${other}/0/*),multi_a(2,${tpub}/3/*,${tpub}/4/*)})`;
    const owners = [...kinds, ...many, tree].map((text, i) => parseDescriptor(network, text).derive(0, i)[0]);
    const inputs = await fund(owners);
    const [change] = parseDescriptor(network, `wpkh(${tpub}/1/*)`).derive(0, 0);
    const lockTime = await node.rpc('getblockcount');
    const outputs = [await paymentTo(6n * COIN), { script: change.script, amount: 2n * COIN - FEE, owner: change }];
    const made = createPsbt({ network, inputs, outputs, lockTime });
    const before = inspectPsbt(made);
    assert.deepEqual([before.fee, before.isComplete, before.lockTime], [FEE, false, lockTime]);
    assert.deepEqual(
      before.inputs.map(({ state }) => state),
      owners.map(() => 'unsigned'),
    );

    const { psbt, signatures } = signPsbt(made, ring);
    assert.equal(signatures, 4 + 6 + 2);
    assert.ok(inspectPsbt(psbt).isComplete);
    const final = finalisePsbt(psbt);
    assert.deepEqual(final.incomplete, []);
    const { raw, txid } = extractTx(psbt);
    assert.deepEqual(extractTx(final.psbt).raw, raw);

    // The sizes that fees are computed from: at most what it is, and near it.
    const { vsize, fee } = inspectPsbt(final.psbt);
    assert.ok(
      vsize !== null && before.vsize !== null && before.vsize >= vsize && before.vsize - vsize < 2 * inputs.length,
      `${before.vsize} ${vsize}`,
    );
    assert.equal(fee, FEE);
    await confirm(raw, txid);
    assert.equal((await node.rpc('getrawtransaction', formatId(txid), true)).vsize, vsize);
  });

  test('bare keys and bare multisigs are paid, signed and spent', async () => {
    const texts = [
      `pk(${tpub}/20/*)`,
      `combo(${tpub}/21/*)`,
      `multi(1,${other}/22/*,${tpub}/22/*)`,
      `multi(2,${tpub}/1/*,${tpub}/2/*,${other}/3/*)`,
    ];
    const owners = texts.map((text) => parseDescriptor(network, text).derive(0, 4)[0]);
    assert.deepEqual(
      owners.map(({ kind }) => kind),
      ['p2pk', 'p2pk', 'multisig', 'multisig'],
    );
    const [payer] = parseDescriptor(network, `wpkh(${tpub}/24/*)`).derive(0, 0);
    const paid = owners.map((owner) => ({ script: owner.script, amount: COIN, owner }));
    const payment = extractTx(signPsbt(createPsbt({ network, inputs: await fund([payer], 4n * COIN + FEE), outputs: paid }), ring).psbt);
    await confirm(payment.raw, payment.txid);

    const inputs = owners.map((owner, index) => ({ txid: payment.txid, index, amount: COIN, owner, previousTx: payment.raw }));
    const outputs = [await paymentTo(4n * COIN - FEE)];
    const withoutPrevious = inputs.map(({ previousTx: _, ...input }) => input);
    assert.throws(() => createPsbt({ network, inputs: withoutPrevious, outputs }), { code: 'PSBT_INVALID' });
    const wrapped = inputs.map((input) => ({ ...input, owner: { ...input.owner, redeemScript: input.owner.script } }));
    assert.throws(() => createPsbt({ network, inputs: wrapped, outputs }), /has none behind it/);
    const made = createPsbt({ network, inputs, outputs });
    const { psbt, signatures } = signPsbt(made, ring);
    assert.equal(signatures, 1 + 1 + 1 + 2);
    const { raw, txid } = extractTx(psbt);
    assert.equal((await node.rpc('finalizepsbt', formatPsbt(psbt))).hex, toHex(raw));
    const { vsize } = inspectPsbt(made);
    const real = inspectPsbt(finalisePsbt(psbt).psbt).vsize;
    assert.ok(vsize !== null && real !== null && vsize >= real && vsize - real < 3 * inputs.length, `${vsize} ${real}`);
    await confirm(raw, txid);
  });

  test('it reads, finalises and combines our PSBTs as we do', async () => {
    const owners = [`wpkh(${tpub}/0/*)`, `wsh(multi(2,${tpub}/1/*,${tpub}/2/*))`, `pkh(${tpub}/5/*)`].map(
      (text) => parseDescriptor(network, text).derive(0, 30)[0],
    );
    const made = createPsbt({ network, inputs: await fund(owners), outputs: [await paymentTo(3n * COIN - FEE)] });
    const decoded = await node.rpc('decodepsbt', formatPsbt(made));
    assert.equal(decoded.fee, Number(FEE) / 1e8);
    assert.deepEqual(
      decoded.tx.vin.map(({ sequence }: { sequence: number }) => sequence),
      [0xfffffffd, 0xfffffffd, 0xfffffffd],
    );
    const origins = decoded.inputs.map((input: { bip32_derivs: { master_fingerprint: string; path: string }[] }) =>
      input.bip32_derivs.map((key) => [key.master_fingerprint, key.path]),
    );
    const fingerprint = owners[0].keys[0].origin.fingerprint.toString(16).padStart(8, '0');
    const named = (path: string): string[] => [fingerprint, path];
    assert.deepEqual(
      origins.map((keys: string[][]) => keys.toSorted()),
      [[named('m/0/30')], [named('m/1/30'), named('m/2/30')], [named('m/5/30')]],
    );
    const { psbt } = signPsbt(made, ring);
    const theirs = await node.rpc('finalizepsbt', formatPsbt(psbt));
    assert.equal(theirs.hex, toHex(extractTx(psbt).raw));
    const combined = await node.rpc('combinepsbt', [formatPsbt(made), formatPsbt(psbt)]);
    assert.deepEqual(extractTx(parsePsbt(combined)), extractTx(combinePsbts([made, psbt])));
    const { raw, txid } = extractTx(psbt);
    await confirm(raw, txid);
  });

  test('two of two: its wallet signs half of it, we the other', async () => {
    const { pubkey } = await node.rpc('getaddressinfo', await node.rpc('getnewaddress'));
    const descriptor = parseDescriptor(network, `wsh(sortedmulti(2,${pubkey},${tpub}/9/*))`);
    const [owner] = descriptor.derive(0, 0);
    const made = createPsbt({ network, inputs: await fund([owner]), outputs: [await paymentTo(COIN - FEE)] });
    const ours = signPsbt(made, ring);
    assert.equal(ours.signatures, 1);
    const { paths, state } = inspectPsbt(ours.psbt).inputs[0];
    assert.equal(state, 'partial');
    assert.deepEqual(
      paths[0].signers.filter(({ hasSigned }) => !hasSigned).map(({ key }) => toHex(key)),
      [pubkey],
    );
    assert.throws(() => extractTx(ours.psbt), { code: 'PSBT_INCOMPLETE', meta: { inputs: [0] } });
    const theirs = parsePsbt((await node.rpc('walletprocesspsbt', formatPsbt(made))).psbt);
    assert.equal(inspectPsbt(theirs).inputs[0].state, 'partial');
    const { raw, txid } = extractTx(combinePsbts([theirs, ours.psbt]));
    await confirm(raw, txid);
  });

  test('one that the node made gets what we know, and our signature', async () => {
    const descriptor = parseDescriptor(network, `wpkh(${tpub}/11/*)`);
    const [owner] = descriptor.derive(0, 0);
    const [{ txid, index, previousTx }] = await fund([owner]);
    const outputs = [{ [await node.rpc('getnewaddress')]: Number(COIN - FEE) / 1e8 }];
    const bare = parsePsbt(await node.rpc('createpsbt', [{ txid: formatId(txid), vout: index }], outputs, 0, true));
    assert.deepEqual([inspectPsbt(bare).fee, inspectPsbt(bare).vsize], [null, null]);
    assert.equal(signPsbt(bare, ring).signatures, 0);
    const known = updatePsbt(network, bare, {
      ownerOf: (script) => (toHex(script) === toHex(owner.script) ? owner : undefined),
      previousTx: (id) => (formatId(id) === formatId(txid) ? previousTx : undefined),
    });
    assert.equal(inspectPsbt(known).fee, FEE);
    const { raw, txid: id } = extractTx(signPsbt(known, ring, { needsPreviousTxs: true }).psbt);
    await confirm(raw, id);
  });
});
