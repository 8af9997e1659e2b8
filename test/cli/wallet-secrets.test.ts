/**
 * Wallets that keep their secret: made with new words, with words from a file or
 * with descriptors, asked to sign, given another passphrase. The secret is shown
 * where it is asked for, and nowhere else.
 */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { askHidden, type Terminal } from '../../src/cli/bitcoin/wallet/passphrase.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openStore } from '../../src/store/store.ts';
import * as keys from '../../src/wallet/bitcoin/keys/index.ts';
import { MNEMONIC, RegtestAccount } from '../support/regtest-account.ts';
import { type Result, temporary, unspentHere } from './run.ts';

const directory = temporary();
const data = join(directory, 'data');
const account = new RegtestAccount(61);
const PAYEE = account.address(0, 900);
const PASSPHRASE = 'correct horse';
/** Whatever commands have said so far. */
let said = '';

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

function command(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Result> {
  return unspentHere(['wallet', ...args, '--data', data], env);
}

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await command(args, { UNSPENT_PASSPHRASE: PASSPHRASE });
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  said += stdout + stderr;
  return stdout;
}

async function refused(expected: RegExp, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  const { code, stdout, stderr } = await command(args, { UNSPENT_LOG_LEVEL: 'debug', ...env });
  assert.match(stderr, expected);
  assert.notEqual(code, 0);
  said += stdout + stderr;
}

describe('wallets with secrets', () => {
  before(async () => {
    const { chain } = account;
    chain.mine(102);
    chain.fund(account.script(0, 0), 300_000n);
    chain.mine();
    const { config } = loadConfig({ flags: { set: ['utxo.history=true'] }, env: {} });
    const store = await openStore({ data, network: chain.network.name, config });
    account.apply(store);
    await store.close();
  });

  it('create --secret keeps words encrypted; send --sign signs what it pays', async () => {
    const words = file('words.txt', `${MNEMONIC}\n`);
    await refused(/a descriptor, --address ADDRESS, --new-words/, ['create', 'till']);
    await refused(/a descriptor, --address ADDRESS, --new-words/, ['create', 'till', account.descriptor, '--secret', words]);
    await refused(/not a mnemonic/, ['create', 'till', '--secret', file('broken.txt', MNEMONIC.replace('about', 'abandon'))]);
    await refused(/--purpose is one of/, ['create', 'till', '--secret', words, '--purpose', '85']);
    assert.match(await run('create', 'till', '--secret', words), /wallet till signs for wpkh\(\[73c5da0a\/84h.*\n.*0\.00300000/);
    const psbt = join(directory, 'paid.psbt');
    const pay = ['send', 'till', '--pay', `${PAYEE}=100000`, '--fee-rate', '2', '--sign', '--psbt', psbt];
    await refused(/passphrase is wrong/, pay, { UNSPENT_PASSPHRASE: 'wrong horse' });
    await refused(/passphrase is needed/, pay);
    assert.equal(JSON.parse(await run('balance', 'till', '--json'))['locked'], '0', 'a wrong passphrase leases nothing');
    assert.match(await run(...pay), /signed: /);
    const sent = JSON.parse(await run('broadcast', 'till', psbt, '--json')) as { status: string; hex: string };
    assert.equal(sent.status, 'pending');
    account.chain.submit(Buffer.from(sent.hex, 'hex'));
    const bump = ['bump', 'till', JSON.parse(await run('history', 'till', '--limit', '1', '--json')).history[0].txid, '--fee-rate', '9'];
    const bumped = JSON.parse(await run(...bump, '--sign', '--json')) as { psbt: string };
    assert.ok(keys.inspectPsbt(keys.parsePsbt(bumped.psbt)).isComplete);
  });

  it('passphrase changes it: the old one opens it no more; sign takes the new one, from a file or a descriptor', async () => {
    const unsigned = join(directory, 'unsigned.psbt');
    writeFileSync(
      unsigned,
      JSON.parse(
        await run(
          'bump',
          'till',
          JSON.parse(await run('history', 'till', '--limit', '1', '--json')).history[0].txid,
          '--fee-rate',
          '12',
          '--json',
        ),
      ).psbt,
    );
    const next = file('next.txt', 'battery staple\r\n');
    await refused(/passphrase is wrong/, ['passphrase', 'till', '--new-passphrase-file', next], { UNSPENT_PASSPHRASE: 'wrong' });
    assert.match(await run('passphrase', 'till', '--new-passphrase-file', next), /new passphrase/);
    await refused(/passphrase is wrong/, ['sign', 'till', unsigned], { UNSPENT_PASSPHRASE: PASSPHRASE });
    await refused(/fee of \d+ satoshi, and 10 satoshi are allowed/, [
      'sign',
      'till',
      unsigned,
      '--max-fee',
      '10',
      '--passphrase-file',
      next,
    ]);
    const fd = openSync(next, 'r');
    const signed = JSON.parse(await run('sign', 'till', unsigned, '--passphrase-fd', `${fd}`, '--json')) as { complete: boolean };
    closeSync(fd);
    assert.equal(signed.complete, true);
  });

  it('create --new-words shows them once; export shows them to who has the passphrase', async () => {
    const { words, ...rest } = JSON.parse(
      await unspentHere(['wallet', 'create', 'new', '--new-words', '--purpose', '86', '--data', data, '--json', '--quiet'], {
        UNSPENT_PASSPHRASE: PASSPHRASE,
      }).then(({ stdout }) => stdout),
    ) as {
      words: string;
      watch_only: boolean;
      accounts: { descriptor: string }[];
    };
    assert.equal(words.split(' ').length, 24);
    assert.match(rest.accounts[0].descriptor, /^tr\(/);
    assert.equal(rest.watch_only, false);
    const master = keys.masterOf(account.chain.network, keys.parseMnemonic(words)) ?? assert.fail('it has a master key');
    const derived = keys.accountDescriptor(account.chain.network, master, { purpose: 86, account: 0 });
    assert.equal(
      rest.accounts[0].descriptor,
      `${keys.parseAccount(account.chain.network, derived).external}`,
      'its account is that of the words',
    );
    assert.ok(!(await run('export', 'new')).includes('prv'));
    assert.equal(
      (await unspentHere(['wallet', 'export', 'new', '--secret', '--data', data], { UNSPENT_PASSPHRASE: PASSPHRASE })).stdout,
      `${words}\n`,
    );
    await refused(/there is a wallet 'new' already/, ['create', 'new', '--new-words'], { UNSPENT_PASSPHRASE: PASSPHRASE });
    await refused(/passphrase is needed|a passphrase is needed/, ['create', 'none', '--new-words'], { UNSPENT_PASSPHRASE: '' });
    for (const word of [words, words.split(' ').slice(0, 3).join(' ')]) assert.ok(!said.includes(word));
  });

  it('words may have a passphrase of their own: other keys, to sign with, too, and shown only with the secret', async () => {
    const { network } = account.chain;
    const words = file('words-25.txt', MNEMONIC);
    const own = ['--words-passphrase-file', file('words-passphrase.txt', 'TREZOR\n')];
    const master = keys.masterOf(network, keys.parseMnemonic(MNEMONIC, 'TREZOR')) ?? assert.fail('it has a master key');
    const derived = keys.parseAccount(network, keys.accountDescriptor(network, master, { purpose: 84, account: 0 }));
    await run('create', 'own', '--secret', words, ...own);
    assert.equal((await run('export', 'own')).split('\n')[0], `${derived.external}`);
    const reveal = async (...args: string[]): Promise<string> =>
      (await unspentHere(['wallet', 'export', 'own', '--secret', ...args, '--data', data], { UNSPENT_PASSPHRASE: PASSPHRASE })).stdout;
    assert.equal(await reveal(), `${MNEMONIC}\npassphrase of these words (BIP39): TREZOR\n`);
    assert.deepEqual(JSON.parse(await reveal('--json')), { secret: MNEMONIC, words_passphrase: 'TREZOR' });

    const [{ script, ...owner }] = derived.derive(0, 0);
    const input = { txid: new Uint8Array(32).fill(7), index: 0, amount: 9000n, owner: { ...owner, script } };
    const psbt = file('own.psbt', keys.formatPsbt(keys.createPsbt({ network, inputs: [input], outputs: [{ script, amount: 8000n }] })));
    const signatures = async (...args: string[]): Promise<number> =>
      JSON.parse(await run('sign', 'own', psbt, ...args, '--json')).signatures;
    assert.equal(await signatures(), 1);
    assert.equal(await signatures('--secret', words, ...own), 1);
    assert.equal(await signatures('--secret', words), 0);
    const given = await command(['create', 'given', '--secret', words], {
      UNSPENT_PASSPHRASE: PASSPHRASE,
      UNSPENT_WORDS_PASSPHRASE: 'TREZOR',
    });
    assert.equal(given.code, 0, given.stderr);
    assert.equal(await run('export', 'given'), await run('export', 'own'));
    await refused(/--words-passphrase-file/, ['create', 'x', '--secret', words, '--words-passphrase'], { UNSPENT_PASSPHRASE: PASSPHRASE });
    await refused(/these are no words/, ['create', 'x', '--secret', file('key-25.txt', master.privateExtendedKey), ...own], {
      UNSPENT_PASSPHRASE: PASSPHRASE,
    });
    const fresh = JSON.parse(
      (await command(['create', 'fresh', '--new-words', ...own, '--json'], { UNSPENT_PASSPHRASE: PASSPHRASE })).stdout,
    );
    const ofFresh = keys.masterOf(network, keys.parseMnemonic(fresh.words, 'TREZOR')) ?? assert.fail('it has a master key');
    const external = `${keys.parseAccount(network, keys.accountDescriptor(network, ofFresh, { purpose: 84, account: 0 })).external}`;
    assert.equal(fresh.accounts[0].descriptor, external);
    assert.ok(!said.includes('TREZOR'));
  });

  it('takes descriptors with private keys, and an extended key; a broken one is not repeated', async () => {
    const { network } = account.chain;
    const key = keys.masterOf(network, keys.parseMnemonic(MNEMONIC))?.privateExtendedKey ?? assert.fail('a key');
    await run('create', 'extended', '--secret', file('key.txt', key), '--purpose', '44');
    assert.match(await run('export', 'extended'), /^pkh\(\[73c5da0a\/44h\/1h\/0h\]tpub/);
    await run('create', 'texts', '--secret', file('texts.txt', `wpkh(${key}/84h/1h/0h/<0;1>/*)`));
    assert.equal((await run('export', 'texts')).split('\n')[0], `${keys.parseAccount(network, account.descriptor).external}`);
    assert.match(await run('balance', 'texts'), /total +0\.00300000/);
    const broken = `${key.slice(0, 40)}${key[40] === 'a' ? 'b' : 'a'}${key.slice(41)}`;
    for (const text of [broken, `wpkh(${broken}/0/*)`, `wpkh(${broken}`, `wpkh(${key}/0/*)\nwpkh(${key}/1/*)\nwpkh(${key}/2/*)`]) {
      await refused(
        /SECRET_INVALID|no descriptor of|checksum|and no more|key/i,
        ['create', 'x', '--secret', file('broken-key.txt', text)],
        {
          UNSPENT_PASSPHRASE: PASSPHRASE,
        },
      );
    }
    // As an argument it is refused, and not repeated.
    await refused(/private keys/, ['create', 'x', `wpkh(${key}/<0;1>/*)`]);
    for (const secret of [MNEMONIC, key.slice(0, 60), broken.slice(30, 90), PASSPHRASE, 'battery staple'])
      assert.ok(!said.includes(secret), secret.slice(0, 12));
  });

  it('a damaged box, or one of another wallet, does not open; the database has no secret in the clear', async () => {
    const path = join(data, 'wallets.sqlite');
    const database = new DatabaseSync(path);
    const rows = database.prepare('SELECT wallet_id, encrypted_master_hd_priv_key AS box FROM wallet_secrets ORDER BY wallet_id').all() as {
      wallet_id: number;
      box: Uint8Array;
    }[];
    const set = database.prepare('UPDATE wallet_secrets SET encrypted_master_hd_priv_key = ? WHERE wallet_id = ?');
    const [till, other] = rows;
    const next = join(directory, 'next.txt');
    const reveal = ['export', 'till', '--secret', '--passphrase-file', next];
    const flipped = Uint8Array.from(till.box);
    flipped[flipped.length - 1] ^= 1;
    for (const [box, expected] of [
      [flipped, /PASSPHRASE_WRONG|passphrase is wrong, or the box was altered/],
      [other.box, /passphrase is wrong, or the box was altered/],
      [till.box.subarray(0, 20), /cannot have 20 bytes/],
      [Uint8Array.of(9, ...till.box.subarray(1)), /version 9/],
    ] as const) {
      set.run(box, till.wallet_id);
      await refused(expected, reveal);
    }
    set.run(till.box, till.wallet_id);
    database.close();
    assert.equal((await unspentHere(['wallet', ...reveal, '--data', data])).stdout, `${MNEMONIC}\n`);
    const bytes = readFileSync(path).toString('latin1');
    for (const secret of ['abandon', 'prv', PASSPHRASE]) assert.ok(!bytes.includes(secret), secret);
    await refused(/only watches|no wallet/, ['export', 'nobody', '--secret'], { UNSPENT_PASSPHRASE: PASSPHRASE });
    await run('create', 'watching', account.accountDescriptor(7));
    await refused(/only watches/, ['sign', 'watching', join(directory, 'unsigned.psbt')], { UNSPENT_PASSPHRASE: PASSPHRASE });
  });
});

/** A terminal on which somebody types. */
class Typing extends EventEmitter implements Terminal {
  readonly isTTY = true;
  readonly modes: boolean[] = [];
  setRawMode(raw: boolean): void {
    this.modes.push(raw);
  }
  resume(): void {}
  pause(): void {}
}

describe('a passphrase that is typed', () => {
  it('is not shown, can be corrected, and ends with the line', async () => {
    const terminal = new Typing();
    let shown = '';
    const typed = askHidden('passphrase: ', terminal, (text) => {
      shown += text;
    });
    for (const text of ['pä', 'ü\u007f', 'ss\r', 'lost']) terminal.emit('data', Buffer.from(text));
    assert.equal(await typed, 'päss');
    assert.deepEqual([shown, terminal.modes, terminal.listenerCount('data')], ['passphrase: \n', [true, false], 0]);
  });

  it('is given up with Ctrl-C, and needs a terminal', async () => {
    const terminal = new Typing();
    const typed = askHidden('', terminal, () => {});
    terminal.emit('data', Buffer.from('abc\u0003'));
    await assert.rejects(typed, { code: 'INTERRUPTED' });
    assert.deepEqual(terminal.modes, [true, false]);
    await assert.rejects(
      askHidden('', Object.assign(new Typing(), { isTTY: false }), () => {}),
      { code: 'USAGE' },
    );
  });
});
