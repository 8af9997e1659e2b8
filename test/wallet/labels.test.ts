/**
 * Labels as files that other wallets write (BIP329): what is taken in is written
 * again, with all that is said of it, and lines that are none are refused.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bitcoinNetwork, formatId } from '../../src/ledgers/bitcoin/index.ts';
import { toHex } from '../../src/util/bytes.ts';
import { bitcoinNotation } from '../../src/wallet/bitcoin/operations/wallet-json.ts';
import { isForeignOrigin, originsOf } from '../../src/wallet/label-origins.ts';
import { exportLabels, importLabels, type LabelledWallets } from '../../src/wallet/labels.ts';
import { openMemoryWallets } from './support/open-memory.ts';
import { idOf, NOW, outpointOf, World } from './support/world.ts';

const DESCRIPTOR =
  'wpkh([d34db33f/84h/0h/0h]xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL/<0;1>/*)#qwlqgth7';
const OWN = "wpkh([d34db33f/84'/0'/0'])";
const OTHER = "wpkh([00000000/84'/0'/0'])";

const refOf = (name: string): string => formatId(idOf(name));

/** What Sparrow and others write: every type, keys in whatever order, with fields of their own. */
const LINES = [
  `{"type":"tx","ref":"${refOf('A')}","label":"rent","origin":"${OWN}"}`,
  `{"type":"tx","ref":"${refOf('later')}","label":"to come","origin":"${OWN}","height":800000,"fee":150}`,
  `{"type":"tx","ref":"${refOf('B')}","label":"of another","origin":"${OTHER}"}`,
  '{"type":"addr","ref":"bc1q34aq5drpuwy3wgl9lhup9892qp6svr8ldzyy7c","label":"shop","keypath":"/1/7"}',
  '{"type":"pubkey","ref":"0283409659355b6d1cc3c32decd5d561abaac86c37a353b52895a5e6c196d6f448","label":"key"}',
  `{"type":"input","ref":"${refOf('A')}:0","label":"in"}`,
  `{"type":"output","ref":"${refOf('A')}:0","label":"out","spendable":false}`,
  `{"type":"output","ref":"${refOf('A')}:1","spendable":true,"tags":["a","b"]}`,
  `{"type":"output","ref":"${refOf('later')}:0","spendable":false}`,
  `{"type":"xpub","ref":"xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8","label":"ü ✓"}`,
];

async function labelled(): Promise<{ readonly world: World; readonly wallets: LabelledWallets }> {
  const world = await World.open(openMemoryWallets);
  const notation = bitcoinNotation(bitcoinNetwork('bitcoin'));
  return { world, wallets: { store: world.store, notation, now: () => NOW, watchedLines: async () => [DESCRIPTOR] } };
}

const documents = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

describe('files of labels', () => {
  it('of every type are taken in and written again, with whatever they say', async () => {
    const { world, wallets } = await labelled();
    const wallet = await world.store.getWallet('wallet 1');
    await world.create('A', { pays: [1, 2].map((own) => ({ own, amount: 10n })) });
    await world.create('B');
    const file = `\ufeff${LINES.join('\r\n')}\r\n\n`;
    const taken = await importLabels(wallets, wallet, file);
    const frozen = [`${refOf('A')}#0`];
    assert.deepEqual(taken, { labels: 10, applied: 1, waiting: 1, foreign: 1, frozen, thawed: [], held: [] });
    assert.deepEqual(documents(await exportLabels(wallets, wallet)), documents(LINES.join('\n')));
    assert.equal((await world.store.getTx(world.wallet, idOf('A'))).label, 'rent');
    assert.equal((await world.store.getTx(world.wallet, idOf('B'))).label, '');

    await world.create('later');
    assert.equal((await world.store.getTx(world.wallet, idOf('later'))).label, 'to come');
    assert.ok((await world.store.getCoin(world.wallet, outpointOf('later:0'), NOW)).lease !== null);
    assert.deepEqual(documents(await exportLabels(wallets, wallet)), documents(LINES.join('\n')));
    const again = await importLabels(wallets, wallet, await exportLabels(wallets, wallet));
    assert.deepEqual([again.applied, again.waiting, again.held], [2, 0, []]);
    assert.deepEqual(documents(await exportLabels(wallets, wallet)), documents(LINES.join('\n')));
  });

  it('tell what is now: labels that were changed, outputs that were frozen or freed here', async () => {
    const { world, wallets } = await labelled();
    const wallet = await world.store.getWallet('wallet 1');
    await world.create('A', { pays: [1, 2].map((own) => ({ own, amount: 10n })) });
    await importLabels(wallets, wallet, LINES.slice(0, 1).concat(LINES[6]).join('\n'));
    await world.store.updateTx(world.wallet, idOf('A'), { label: 'changed' });
    const [coin] = await world.store.listLeases(world.wallet, NOW);
    await world.store.releaseCoin(world.wallet, coin.outpoint, coin.lease!.id, NOW);
    await world.lease('A:1', { durationMs: null });
    assert.deepEqual(
      documents(await exportLabels(wallets, wallet)),
      documents(
        [
          `{"type":"tx","ref":"${refOf('A')}","label":"changed","origin":"${OWN}"}`,
          `{"type":"output","ref":"${refOf('A')}:0","label":"out","spendable":true}`,
          `{"type":"output","ref":"${refOf('A')}:1","spendable":false}`,
        ].join('\n'),
      ),
    );
  });

  it('with a line that is none are refused with its number, and nothing is taken in', async () => {
    const { world, wallets } = await labelled();
    const wallet = await world.store.getWallet('wallet 1');
    const id = toHex(idOf('A'));
    for (const line of [
      'x',
      '[]',
      'null',
      '{"type":"tx"}',
      '{"type":"note","ref":"x"}',
      '{"type":"tx","ref":"x"}',
      `{"type":"output","ref":"${id}"}`,
      `{"type":"output","ref":"${id}:4294967296"}`,
      `{"type":"output","ref":"${id}:0","spendable":1}`,
      `{"type":"tx","ref":"${id}","spendable":false}`,
      '{"type":"addr","ref":"a b"}',
      '{"type":"addr","ref":"a","label":5}',
      '{"type":"addr","ref":"a","origin":5}',
      `{"type":"addr","ref":"a","label":"${'x'.repeat(10_000)}"}`,
    ])
      await assert.rejects(importLabels(wallets, wallet, `${LINES[3]}\n\n${line}`), { code: 'USAGE', message: /^line 3 / }, line);
    const long = `{"type":"tx","ref":"${id}","label":"${'x'.repeat(501)}"}`;
    await assert.rejects(importLabels(wallets, wallet, `${LINES[3]}\n${long}`), { code: 'INVALID_PARAM' });
    assert.deepEqual(await world.store.listLabels(world.wallet), []);
  });

  it('say whose they are by the origin of descriptors', () => {
    const own = originsOf([DESCRIPTOR, 'wsh(sortedmulti(2,[aa112233/48h/0h]xpubA/0/*,[bb112233]xpubB/0/*))#aaaaaaaa', 'addr(bc1q)']);
    assert.deepEqual([...own], [OWN, "wsh(sortedmulti(2,[aa112233/48'/0'],[bb112233]))"]);
    for (const origin of [OWN, 'wpkh([D34DB33F/84h/0h/0h])']) assert.equal(isForeignOrigin(origin, own), false);
    assert.equal(isForeignOrigin(OTHER, own), true);
    assert.equal(isForeignOrigin(OTHER, originsOf(['wpkh(xpub/0/*)'])), false, 'who knows no origin of its own takes all');
  });
});
