/**
 * A blueprint in place of deployments: the store follows the cages that its code
 * makes, and remembers them without the file.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { openDevnet } from '../../src/chains/cardano/devnet/index.ts';
import { DEVNET_CAGE } from '../../src/ledgers/cardano/cage/deployment.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { toHex } from '../../src/util/bytes.ts';

const STATE_CODE = '450101002499';
const folder = mkdtempSync(join(tmpdir(), 'unspent-blueprint-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, 'plutus.json');
const data = join(folder, 'store');

/** The scripts of the devnet's cage, with this code of the state script. */
function writeBlueprint(stateCode = STATE_CODE): void {
  const request = { title: 'request.spend', compiledCode: toHex(DEVNET_CAGE.requestProgram!), parameters: [{}, {}] };
  const validators = [{ title: 'state.spend', compiledCode: stateCode }, request];
  writeFileSync(file, JSON.stringify({ preamble: { title: 'cage', plutusVersion: 'v3' }, validators }));
}

type Settings = Readonly<Record<string, string | boolean>>;
const WITH_FILE: Settings = { 'cage.enabled': true, 'cage.blueprint': file };

const chain = (blocks: number) => openDevnet(`devnet:?blocks=${blocks}&cages=1&rollbacks=0&seed=3`);

function open(settings: Settings): Promise<OpenStore> {
  return openStore({ data, network: 'devnet', genesis: chain(1).genesis!, settings });
}

async function follow(settings: Settings, blocks: number): Promise<void> {
  const store = await open(settings);
  try {
    await store.follow(chain(blocks));
    assert.deepEqual(
      store.read((query) => query.cage().deployments()),
      [DEVNET_CAGE],
    );
    const requests = store.read((query) => [...query.cage().tokens()].flatMap((token) => [...query.cage().requests(token, 0n)]));
    assert.ok(requests.some(({ canonical }) => canonical));
  } finally {
    await store.close();
  }
}

describe('cage.blueprint', () => {
  test('cannot be what is no blueprint, and not beside deployments', async () => {
    await assert.rejects(open(WITH_FILE), { code: 'CONFIG', message: /plutus\.json cannot be used: .*no such file/ });
    writeFileSync(file, '{');
    await assert.rejects(open(WITH_FILE), { code: 'CONFIG', message: /plutus\.json cannot be used: .*JSON/ });
    writeFileSync(file, '{}');
    await assert.rejects(open(WITH_FILE), { code: 'CONFIG', message: /not that of a cage: its preamble is no object/ });
    writeBlueprint();
    await assert.rejects(open({ ...WITH_FILE, 'cage.deployments': 'public' }), { code: 'CONFIG', message: /give one of them/ });
  });

  test('says what a new store follows, and the store remembers it', async () => {
    writeBlueprint();
    await follow(WITH_FILE, 60);
    rmSync(file);
    await follow({}, 90);
  });

  test('is held against what the store follows', async () => {
    writeBlueprint();
    await follow(WITH_FILE, 100);
    writeBlueprint(toHex(DEVNET_CAGE.requestProgram!));
    await assert.rejects(follow(WITH_FILE, 120), { code: 'STORE_SHAPE', message: /the store follows the cages/ });
  });
});
