/**
 * The transactions that the library builds, on a devnet over a real socket. Each
 * is read by an independent library (cardano-serialization-lib), which also
 * computes its hash of script data and its least fee; its events are found by
 * our detection; and what the store says after it is what was meant.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import CSL from '@emurgo/cardano-serialization-lib-nodejs';
import type { BuildOptions, ProtocolParameters, UnsignedTx } from '../../../src/cage.ts';
import { isUnspentError } from '../../../src/index.ts';
import { type CageEvent, DEVNET_CAGE, DEVNET_STATE_CODE } from '../../../src/ledgers/cardano/cage/index.ts';
import { referenceFee } from '../../../src/ledgers/cardano/fee.ts';
import { slotToTime } from '../../../src/ledgers/cardano/index.ts';
import { readWholeTx } from '../../../src/ledgers/cardano/transaction.ts';
import { fromHex, toHex, utf8 } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import type { ErrorCode } from '../../../src/util/errors.ts';
import { CageNodeRig } from '../../support/cage-node.ts';
import { witnessTx } from '../../support/cage-tx-witness.ts';
import { signTx } from '../../support/sign.ts';

const code =
  (wanted: ErrorCode) =>
  (error: unknown): boolean =>
    isUnspentError(error, wanted);
const ADA = 1_000_000n;
const PHASE_MS = 200_000;
const TERMS = { tip: ADA, processTime: BigInt(PHASE_MS), retractTime: BigInt(PHASE_MS) };

describe('transactions of cages', () => {
  let rig: CageNodeRig;
  let parameters: ProtocolParameters;
  let options: BuildOptions;

  before(async () => {
    rig = await CageNodeRig.start(
      11,
      Array.from({ length: 12 }, (_, i) => BigInt(40 + i) * ADA),
    );
    await rig.settled();
    const found = await rig.cage.provider.parameters();
    parameters = { ...found, costModels: new Map([[2, Array.from({ length: 297 }, (_, i) => BigInt(i * 1001 - 50))]]) };
    options = { address: rig.address, parameters, stateScript: DEVNET_STATE_CODE };
  });
  after(() => rig.close());

  /** What our detection finds in it, once the other library has read it and agrees with what we say of it. */
  function check({ tx, id, fee }: UnsignedTx): readonly CageEvent[] {
    const { chain, cage, wallet } = rig;
    const tokens = cage.state.tokens().map(({ name }) => fromHex(name));
    const seen = witnessTx(tx, { deployments: [DEVNET_CAGE], tokens, utxos: chain.utxos, parameters, wallet });
    assert.deepEqual([seen.id, seen.fee], [id, fee]);
    return seen.events;
  }

  /** Checks it, submits it and waits for it; the names of its events. */
  async function send(unsigned: UnsignedTx): Promise<string> {
    const events = check(unsigned);
    assert.equal(await rig.cage.submitter.submit(signTx(unsigned.tx, rig.wallet)), unsigned.id);
    await rig.mine();
    assert.equal((await rig.cage.indexer.waitForTx(unsigned.id)).tx_hash, unsigned.id);
    return events.map(({ type }) => type).join(' ');
  }

  const boot = async (): Promise<string> => {
    const made = await rig.cage.txBuilder.boot({ ...options, terms: TERMS });
    assert.equal(await send(made), 'boot');
    return made.token;
  };
  const ask = async (token: string, key: string, operation: Parameters<typeof rig.cage.txBuilder.request>[2]): Promise<string> => {
    const made = await rig.cage.txBuilder.request(token, utf8(key), operation, options);
    assert.equal(await send(made), 'request');
    return `${made.id}#0`;
  };
  const value = (text: string): { readonly type: 'insert'; readonly value: Uint8Array } => ({ type: 'insert', value: utf8(text) });

  it('boot, request, update, delete, replace, hand over, across a rollback', async () => {
    const { cage } = rig;
    const token = await boot();
    assert.deepEqual(cage.state.token(token)?.terms, TERMS);
    const refs = [await ask(token, 'a', value('1')), await ask(token, 'b', value('2')), await ask(token, 'c', value('3'))];
    assert.deepEqual(
      cage.state.requests(token).map(({ phase, canonical, owner }) => [phase, canonical, owner]),
      refs.map(() => ['process', true, toHex(rig.wallet.address.subarray(1))]),
    );
    const built = await cage.txBuilder.update(token, options);
    assert.deepEqual(built.taken.toSorted(), refs.toSorted());
    const [update] = check(built);
    assert.ok(update.type === 'update' && update.applied.length === 3);
    assert.equal(await send(built), 'update');
    assert.equal(cage.state.token(token)?.root, built.root);
    assert.equal(cage.state.token(token)?.status, 'consistent');
    // The block is taken back; the transaction waits again in the node, and comes with another block.
    rig.chain.fork(1);
    await rig.settled();
    await cage.indexer.waitForTx(built.id);
    assert.equal(cage.trieManager.root(token), built.root);
    await ask(token, 'a', { type: 'delete', value: utf8('1') });
    await ask(token, 'b', { type: 'update', before: utf8('2'), after: utf8('two') });
    const other = 'ab'.repeat(28);
    assert.equal(await send(await cage.txBuilder.update(token, { ...options, newOwner: other })), 'update');
    assert.equal(cage.state.token(token)?.owner, other);
    assert.deepEqual(
      cage.trieManager.facts(token).map((fact) => [...[fact.key, fact.value].map((bytes) => new TextDecoder().decode(bytes))]),
      [
        ['b', 'two'],
        ['c', '3'],
      ],
    );
    await assert.rejects(cage.txBuilder.update(token, options), code('USAGE'));
  });

  it('retract, reject and end, each in its time', async () => {
    const { cage } = rig;
    const { txBuilder } = cage;
    const token = await boot();
    const submitted = rig.now;
    const [first, second] = [await ask(token, 'x', value('1')), await ask(token, 'y', value('2'))];
    await assert.rejects(txBuilder.retract(first, options), code('CAGE_CONFLICT'));
    await assert.rejects(txBuilder.reject(token, options), code('CAGE_CONFLICT'));
    await assert.rejects(txBuilder.end(token, options), code('CAGE_CONFLICT'));
    await rig.pass(PHASE_MS);
    await assert.rejects(txBuilder.update(token, { ...options, requests: [first] }), code('CAGE_CONFLICT'));
    const retract = await txBuilder.retract(first, options);
    const slots = CSL.FixedTransaction.from_bytes(retract.tx).body();
    const { network } = rig.chain;
    assert.ok(1000 * slotToTime(network, Number(slots.validity_start_interval_bignum()?.to_str())) >= submitted + PHASE_MS);
    assert.ok(1000 * slotToTime(network, Number(slots.ttl_bignum()?.to_str())) <= submitted + 2 * PHASE_MS);
    assert.equal(await send(retract), 'retract');
    await rig.pass(PHASE_MS);
    const reject = await txBuilder.reject(token, options);
    assert.deepEqual(reject.taken, [second]);
    const [, refund] = readWholeTx(reject.tx).outputs;
    assert.deepEqual([toHex(refund.address), refund.lovelace], [toHex(rig.wallet.address), 2n * ADA]);
    assert.equal(await send(reject), 'update reject');
    assert.equal(await send(await txBuilder.end(token, options)), 'burn');
    assert.equal(cage.state.token(token), null);
  });

  it('takes a script by reference, and leaves it out of the transaction', async () => {
    const [coin] = rig.cage.provider.utxos(rig.address);
    const w = new CborWriter().array(4).map(3);
    w.uint(0).array(1).array(2).bytes(fromHex(coin.tx_hash)).uint(coin.output_index).uint(1).array(1).map(3);
    w.uint(0)
      .bytes(rig.wallet.address)
      .uint(1)
      .bigUint(BigInt(coin.lovelace_amount!) - 200_000n);
    w.uint(3).encoded(new CborWriter().array(2).uint(3).bytes(DEVNET_STATE_CODE).take());
    const id = await rig.cage.submitter.submit(signTx(w.uint(2).uint(200_000).map(0).bool(true).null().take(), rig.wallet));
    await rig.mine();
    const stateScript = `${id}#0`;
    const made = await rig.cage.txBuilder.boot({ ...options, stateScript, terms: TERMS });
    const theirs = CSL.FixedTransaction.from_bytes(made.tx);
    assert.equal(theirs.witness_set().plutus_scripts(), undefined);
    assert.equal(theirs.body().reference_inputs()?.get(0).transaction_id().to_hex(), id);
    assert.equal(await send(made), 'boot');
    await assert.rejects(rig.cage.txBuilder.boot({ ...options, stateScript: `${made.id}#0`, terms: TERMS }), code('USAGE'));
  });

  it('sweeps what is no request, with the assets in it, and nothing that is one', async () => {
    const { cage } = rig;
    const token = await boot();
    const script = fromHex(cage.state.token(token)!.requestScript!);
    const id = await rig.leaveAt(script, { policy: new Uint8Array(28).fill(7), name: utf8('gift'), quantity: 5n });
    const swept = await cage.txBuilder.sweep(token, `${id}#0`, options);
    const [back] = readWholeTx(swept.tx).outputs;
    assert.deepEqual([toHex(back.address), back.assets.map(({ quantity }) => quantity)], [toHex(rig.wallet.address), [5n]]);
    const body = CSL.FixedTransaction.from_bytes(swept.tx).body();
    assert.equal(body.required_signers()?.get(0).to_hex(), cage.state.token(token)!.owner);
    assert.equal(body.reference_inputs()?.get(0).transaction_id().to_hex(), cage.state.token(token)!.stateRef.slice(0, 64));
    assert.equal(await send(swept), 'sweep');
    await assert.rejects(cage.txBuilder.sweep(token, `${id}#0`, options), code('NOT_FOUND'));
    const ref = await ask(token, 'k', value('v'));
    await assert.rejects(cage.txBuilder.sweep(token, ref, options), code('CAGE_CONFLICT'));
    await assert.rejects(cage.txBuilder.sweep(token, `${id}#1`, options), code('CAGE_CONFLICT'));
  });

  it('charges for reference scripts what the other library does', () => {
    for (const bytes of [0, 1, 5000, 25_600, 25_601, 60_000, 200_000]) {
      const price = CSL.UnitInterval.new(CSL.BigNum.from_str('15'), CSL.BigNum.from_str('1'));
      const theirs = BigInt(CSL.min_ref_script_fee(bytes, price).to_str());
      const ours = referenceFee(BigInt(bytes), { over: 15n, under: 1n });
      // They round up where the ledger rounds down.
      assert.ok(theirs - ours === 0n || theirs - ours === 1n, `${bytes} bytes: ${ours}, not ${theirs}`);
    }
  });

  it('refuses scripts that are others, payers that are no keys or have nothing, tokens that are not there', async () => {
    const { txBuilder } = rig.cage;
    const terms = TERMS;
    await assert.rejects(txBuilder.boot({ ...options, stateScript: fromHex('46010100222499'), terms }), code('USAGE'));
    await assert.rejects(txBuilder.boot({ ...options, stateScript: undefined, terms }), code('UNSUPPORTED'));
    await assert.rejects(txBuilder.boot({ ...options, address: `70${'00'.repeat(28)}`, terms }), code('USAGE'));
    await assert.rejects(txBuilder.boot({ ...options, address: `60${'00'.repeat(28)}`, terms }), code('USAGE'));
    await assert.rejects(txBuilder.update('00'.repeat(32), options), code('NOT_FOUND'));
    await assert.rejects(txBuilder.retract(`${'00'.repeat(32)}#0`, options), code('NOT_FOUND'));
  });
});
