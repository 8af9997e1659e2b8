/**
 * The routes that build transactions, over a real socket: a client that speaks
 * nothing but HTTP makes tokens of v0, posts requests, applies, retracts and ends,
 * on a devnet that is followed through its local socket. Each transaction is read
 * by an independent library and held against the rules of the protocol before it
 * is signed and handed back.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import CSL from '@emurgo/cardano-serialization-lib-nodejs';
import type { ProtocolParameters } from '../../../src/cage.ts';
import { devnetLedger } from '../../../src/chains/cardano/devnet/ledger-feed.ts';
import { encodeConwayParameters } from '../../../src/chains/cardano/devnet/parameters.ts';
import { encodeEraHistory, encodeSystemStart } from '../../../src/chains/cardano/responder/history.ts';
import type { Served } from '../../../src/index.ts';
import {
  type CageDeployment,
  type CageEvent,
  DEVNET_CAGE,
  DEVNET_STATE_CODE,
  decodeCageDatum,
  decodeSpendRedeemer,
  parseCageDeployment,
  plutusV3Hash,
} from '../../../src/ledgers/cardano/cage/index.ts';
import { readWholeTx } from '../../../src/ledgers/cardano/transaction.ts';
import { mpf } from '../../../src/proofs/index.ts';
import { fromHex, toHex, utf8 } from '../../../src/util/bytes.ts';
import { CageNodeRig } from '../../support/cage-node.ts';
import { witnessTx } from '../../support/cage-tx-witness.ts';
import { OpenApiCheck } from '../../support/openapi-check.ts';
import { signTx } from '../../support/sign.ts';

const ADA = 1_000_000n;
/** A program that takes two arguments: any will do for a script that nobody runs. */
const V0_CODE = fromHex('46010100222499');
const V0_CAGE: CageDeployment = parseCageDeployment(`v0:${toHex(plutusV3Hash(V0_CODE))}`);
const BLUEPRINT = {
  preamble: { plutusVersion: 'v3' },
  validators: [{ title: 'cage', compiledCode: toHex(V0_CODE), hash: toHex(V0_CAGE.stateScriptHash) }],
};

interface Problem {
  readonly code: string;
  readonly detail: string;
}

describe('transactions that the server builds', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-mpfs-tx-'));
  let rig: CageNodeRig;
  let served: Served;
  let parameters: ProtocolParameters;
  let openApi: OpenApiCheck;
  let tokens: Uint8Array[] = [];

  before(async () => {
    const file = join(folder, 'plutus.json');
    writeFileSync(file, JSON.stringify(BLUEPRINT));
    const cages = `devnet,v0:${toHex(V0_CAGE.stateScriptHash)}`;
    rig = await CageNodeRig.start(
      21,
      Array.from({ length: 12 }, (_, i) => BigInt(40 + i) * ADA),
      { 'cage.deployments': cages, 'cage.scripts': file },
    );
    await rig.settled();
    served = await rig.store.serve({ port: 0, follows: true });
    parameters = await rig.cage.provider.parameters();
    const document = await (await fetch(new URL('/api/v1/openapi.json', served.url))).json();
    openApi = new OpenApiCheck(document as ConstructorParameters<typeof OpenApiCheck>[0]);
  });
  after(async () => {
    await served.close();
    await rig.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask<T>(method: 'GET' | 'POST', path: string, body?: object, status = 200): Promise<T> {
    const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(new URL(`/mpfs${path}`, served.url), { method, ...init });
    const text = await response.text();
    assert.equal(response.status, status, text);
    openApi.answer(method, `/mpfs${path}`, { status, headers: Object.fromEntries(response.headers), text });
    return JSON.parse(text) as T;
  }
  const refused = async (path: string, code: string, status: number, detail: RegExp, body?: object): Promise<void> => {
    const problem = await ask<Problem>(body === undefined ? 'GET' : 'POST', path, body, status);
    assert.equal(problem.code, code);
    assert.match(problem.detail, detail);
  };

  /** Holds it against the other library and the rules, signs it, hands it back and waits until the server has it. */
  async function send(unsigned: string, owner = rig.wallet.address.subarray(1)): Promise<readonly CageEvent[]> {
    const tx = fromHex(unsigned);
    const { chain, wallet } = rig;
    const { id, events } = witnessTx(tx, { deployments: [DEVNET_CAGE, V0_CAGE], tokens, utxos: chain.utxos, parameters, wallet });
    const body = CSL.FixedTransaction.from_bytes(tx).body();
    if (body.script_data_hash() !== undefined) assert.equal(body.required_signers()?.get(0).to_hex(), toHex(owner));
    const { txHash } = await ask<{ txHash: string }>('POST', '/v0/transaction', { signedTransaction: toHex(signTx(tx, wallet)) });
    assert.equal(txHash, id);
    await rig.mine();
    assert.equal((await ask<{ tx_id: string }>('GET', `/tx/${id}?timeout=60`)).tx_id, id);
    return events;
  }
  const names = (events: readonly CageEvent[]): string => events.map(({ type }) => type).join(' ');
  const v0 = (rest: string): string => `/v0/transaction/${rig.address}/${rest}`;
  const boot = async (): Promise<string> => {
    const made = await ask<{ unsignedTransaction: string; value: string }>('GET', v0('boot-token'));
    const [event] = await send(made.unsignedTransaction);
    assert.ok(event.type === 'boot' && toHex(event.token.name) === made.value);
    // Minting: output 0 at the script, with an empty root and nothing of v2.
    assert.deepEqual(event.output.state, { owner: rig.wallet.address.slice(1), root: new Uint8Array(32), terms: null });
    tokens = [...tokens, event.token.name];
    return made.value;
  };
  const request = async (kind: string, token: string, body: object): Promise<string> => {
    const { unsignedTransaction } = await ask<{ unsignedTransaction: string }>('POST', v0(`request-${kind}/${token}`), body);
    const [event] = await send(unsignedTransaction);
    assert.ok(event.type === 'request');
    return `${toHex(readWholeTx(fromHex(unsignedTransaction)).id)}-0`;
  };

  test('the life of a token of v0, by HTTP alone', async () => {
    const config = await ask<{ policyId: string; plutus: object }>('GET', '/v0/config');
    assert.deepEqual([config.policyId, config.plutus], [toHex(V0_CAGE.stateScriptHash), BLUEPRINT]);
    const token = await boot();
    const [text, bytes] = [
      await request('insert', token, { key: 'key', newValue: 'value' }),
      await request('insert', token, { key: '0xff00', newValue: '0xfe' }),
    ];
    type Change = { readonly outputRefId: string; readonly change: Readonly<Record<string, string>>; readonly owner: string };
    const waiting = (await ask<{ requests: Change[] }>('GET', `/v0/token/${token}`)).requests;
    const owner = toHex(rig.wallet.address.subarray(1));
    assert.deepEqual(
      waiting.toSorted((a, b) => (a.change['key'] < b.change['key'] ? -1 : 1)),
      [
        { outputRefId: bytes, change: { type: 'insert', key: '0xff00', newValue: '0xfe' }, owner },
        { outputRefId: text, change: { type: 'insert', key: 'key', newValue: 'value' }, owner },
      ],
    );

    const first = await ask<{ unsignedTransaction: string; mpfRoot: string }>('GET', v0(`update-token/${token}?request=${text}`));
    assertModify(fromHex(first.unsignedTransaction), first.mpfRoot, 1);
    assert.equal(names(await send(first.unsignedTransaction)), 'update');
    assert.deepEqual(Object.keys(await ask<object>('GET', `/v0/token/${token}/facts`)), ['key']);
    await refused(v0(`update-token/${token}?request=${text}`), 'CAGE_CONFLICT', 409, /there is no request/);

    await request('update', token, { key: 'key', oldValue: 'value', newValue: 'other' });
    await request('delete', token, { key: 'nowhere', oldValue: 'x' });
    const second = await ask<{ unsignedTransaction: string; mpfRoot: string }>('GET', v0(`update-token/${token}`));
    // The one that does not fit the trie is left out, unless it is asked for.
    assertModify(fromHex(second.unsignedTransaction), second.mpfRoot, 2);
    assert.equal(names(await send(second.unsignedTransaction)), 'update');
    const facts = await ask<Record<string, { value: string }>>('GET', `/v0/token/${token}/facts`);
    assert.deepEqual(
      Object.entries(facts).map(([key, { value }]) => [key, value]),
      [
        ['key', 'other'],
        ['0xff00', '0xfe'],
      ],
    );
    assert.equal((await ask<{ state: { root: string } }>('GET', `/v0/token/${token}`)).state.root, second.mpfRoot);

    const left = (await ask<{ requests: Change[] }>('GET', `/v0/token/${token}`)).requests;
    assert.equal(left.length, 1);
    await refused(v0(`update-token/${token}?request=${left[0].outputRefId}`), 'CAGE_CONFLICT', 409, /no such key/);
    const retract = await ask<{ unsignedTransaction: string }>('GET', v0(`retract-change/${left[0].outputRefId}`));
    assert.equal(names(await send(retract.unsignedTransaction)), 'retract');
    await refused(v0(`retract-change/${left[0].outputRefId}`), 'NOT_FOUND', 404, /no request/);

    const end = await ask<{ unsignedTransaction: string }>('GET', v0(`end-token/${token}`));
    assert.equal(names(await send(end.unsignedTransaction)), 'burn');
    await refused(`/v0/token/${token}`, 'NOT_FOUND', 404, /no token/);
  });

  /** What the validator of v0 checks of a Modify: the state in output 0 with the root that the proofs lead to, a proof for each request in ledger order. */
  function assertModify(tx: Uint8Array, root: string, requests: number): void {
    const { inputs, outputs, validFrom, validUntil } = readWholeTx(tx);
    assert.deepEqual([validFrom, validUntil], [null, null]);
    const datum = decodeCageDatum(outputs[0].inlineDatum!);
    assert.ok(datum?.type === 'state' && toHex(datum.state.root) === root);
    assert.equal(toHex(outputs[0].address.subarray(1)), toHex(V0_CAGE.stateScriptHash));
    // No refunds in v0: besides the state there is the change.
    assert.equal(outputs.length, 2);
    const redeemers = CSL.FixedTransaction.from_bytes(tx).witness_set().redeemers()!;
    const decoded = Array.from({ length: redeemers.len() }, (_, i) => decodeSpendRedeemer(redeemers.get(i).data().to_bytes()));
    const modify = decoded.find((each) => each?.type === 'modify')!;
    assert.ok(modify.type === 'modify' && modify.bare && modify.actions.length === requests);
    assert.equal(decoded.filter((each) => each?.type === 'contribute').length, requests);
    let at: Uint8Array | null = null;
    const spent = inputs
      .map((ref) => rig.chain.utxos.get(`${toHex(ref.txId)}#${ref.index}`)!)
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ output }) => decodeCageDatum(readInlineDatum(output)));
    for (const each of spent) if (each?.type === 'state') at = each.state.root;
    const actions = [...modify.actions];
    for (const each of spent) {
      if (each?.type !== 'request') continue;
      const { key, operation } = each.request;
      const action = actions.shift();
      assert.ok(action?.type === 'apply');
      const proof = mpf.decode(action.proof);
      const made =
        operation.type === 'insert'
          ? mpf.rootAfterInsert(at!, key, operation.value, proof)
          : operation.type === 'update'
            ? mpf.rootAfterUpdate(at!, key, operation.before, operation.after, proof)
            : mpf.rootAfterDelete(at!, key, operation.value, proof);
      assert.ok(made.ok);
      at = made.root;
    }
    assert.equal(toHex(at!), root);
  }

  function readInlineDatum(output: Uint8Array): Uint8Array {
    return CSL.TransactionOutput.from_bytes(output).plutus_data()?.to_bytes() ?? new Uint8Array();
  }

  test('retracting in v0 does not need the token', async () => {
    const token = await boot();
    const ref = await request('insert', token, { key: 'k', newValue: 'v' });
    const end = await ask<{ unsignedTransaction: string }>('GET', v0(`end-token/${token}`));
    assert.equal(names(await send(end.unsignedTransaction)), 'burn');
    const { unsignedTransaction } = await ask<{ unsignedTransaction: string }>('GET', v0(`retract-change/${ref}`));
    assert.equal(names(await send(unsignedTransaction)), 'retract');
  });

  test('sweep: what lies at the request script of a token of v2 and is no request', async () => {
    const terms = { tip: ADA, processTime: 600_000n, retractTime: 600_000n };
    const { txBuilder, state } = rig.cage;
    const made = await txBuilder.boot({ address: rig.address, stateScript: DEVNET_STATE_CODE, terms });
    await send(toHex(made.tx));
    const { name, requestScript } = state.token(made.token)!;
    tokens = [...tokens, fromHex(name)];
    const id = await rig.leaveAt(fromHex(requestScript!));
    await ask('GET', `/tx/${id}?timeout=60`);
    const address = toHex(rig.wallet.address);
    const body = { token: name, utxo: `${id}#0`, address };
    const { tx } = await ask<{ tx: string }>('POST', '/tx/sweep', body);
    assert.equal(names(await send(tx)), 'sweep');
    await refused('/tx/sweep', 'NOT_FOUND', 404, /is not unspent/, body);
    await refused('/tx/sweep', 'CAGE_CONFLICT', 409, /not at the request script/, { ...body, utxo: `${id}#1` });
    await refused('/tx/sweep', 'USAGE', 400, /outpoint/, { ...body, utxo: 'x' });
    const { tx: asked } = await txBuilder.request(made.token, utf8('k'), { type: 'insert', value: utf8('v') }, { address });
    await send(toHex(asked));
    const utxo = state.requests(made.token)[0].ref;
    await refused('/tx/sweep', 'CAGE_CONFLICT', 409, /can be applied or rejected/, { ...body, utxo });
  });

  test("eval-context is what the node says, in its own bytes, and so are the facts' protocol parameters", async () => {
    type Context = { readonly protocol_parameters: { verified: boolean; cbor: string } } & Readonly<Record<string, unknown>>;
    const said = await ask<Context>('GET', '/eval-context');
    const { network } = rig.chain;
    const cbor = toHex(encodeConwayParameters());
    assert.deepEqual(said.protocol_parameters, { verified: false, cbor });
    assert.equal(said['system_start_cbor'], toHex(encodeSystemStart(network)));
    assert.equal(said['era_history_cbor'], toHex(encodeEraHistory(network, 6)));
    const embedded = await devnetLedger(rig.chain).answers();
    assert.deepEqual(
      Object.values(embedded).map((bytes) => toHex(bytes)),
      [cbor, said['system_start_cbor'], said['era_history_cbor']],
      'a devnet in the same process says the same as over its socket',
    );
    assert.deepEqual([said['epoch_size'], said['slot_length_ms']], [network.shelleyEpochSlots, network.shelleySlotMs]);
  });

  test('what cannot be built says why', async () => {
    const nobody = `60${'00'.repeat(28)}`;
    const nothing = 'ab'.repeat(32);
    await refused(`/v0/transaction/${nobody}/boot-token`, 'USAGE', 400, /has no output that holds nothing but lovelace/);
    await refused(`/v0/transaction/70${'00'.repeat(28)}/boot-token`, 'USAGE', 400, /not the address of a key/);
    await refused('/v0/transaction/nonsense/boot-token', 'USAGE', 400, /./);
    await refused(v0(`end-token/${nothing}`), 'NOT_FOUND', 404, /no token/);
    await refused(v0(`retract-change/${nothing}-0`), 'NOT_FOUND', 404, /no request/);
    await refused(v0(`request-insert/${nothing}`), 'USAGE', 400, /./, { key: 'k' });
    const token = await boot();
    await refused(v0(`update-token/${token}`), 'CAGE_CONFLICT', 409, /no request .* can be applied/);
    await refused(v0(`request-insert/${token}`), 'USAGE', 400, /what begins with '0x' is hex/, { key: '0xzz', newValue: 'v' });
    // A transaction without its signature is the node's to refuse.
    const { unsignedTransaction } = await ask<{ unsignedTransaction: string }>('GET', v0(`end-token/${token}`));
    const problem = await ask<Problem>('POST', '/v0/transaction', { signedTransaction: unsignedTransaction }, 400);
    assert.equal(problem.code, 'TX_REFUSED');
  });
});
