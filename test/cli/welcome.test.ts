/** `unspent` alone: what is here, and what to do next. */
import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readAnyIdentity, writeIdentity } from '../../src/engine/directory.ts';
import { document, failure, temporary, unspentHere, withStore } from './run.ts';

interface Welcome {
  readonly state: string;
  readonly network: string | null;
  readonly point: { height: number } | null;
  readonly holder: { process: number } | null;
  readonly detail: string | null;
  readonly config: string | null;
  readonly next: readonly { command: string }[];
}

async function welcome(data: string, ...more: string[]): Promise<Welcome & { readonly text: string; readonly commands: string }> {
  const plain = await unspentHere(['--data', data, ...more]);
  assert.deepEqual([plain.code, plain.stderr], [0, '']);
  const { code, stdout } = await unspentHere(['--data', data, ...more, '--json']);
  assert.equal(code, 0);
  const told = JSON.parse(stdout) as Welcome;
  return { ...told, text: plain.stdout, commands: told.next.map(({ command }) => command).join('\n') };
}

describe('unspent alone', () => {
  test('says what to do next, by what is in the directory', async () => {
    const work = temporary();
    const data = join(work, 'data');
    const none = await welcome(data);
    assert.deepEqual([none.state, none.network], ['none', null]);
    assert.match(none.commands, /^unspent start --data/);

    await document(['sync', '--source', 'devnet:?blocks=20', '--data', data]);
    const closed = await welcome(data);
    assert.deepEqual([closed.state, closed.network, closed.point?.height], ['closed', 'devnet', 19]);
    assert.match(closed.commands, /unspent serve --data/);
    assert.match(closed.text, /store of devnet, at height 19/);

    const held = await withStore(data, () => welcome(data));
    assert.deepEqual([held.state, held.holder?.process], ['open', process.pid]);
    assert.match(held.text, new RegExp(`process ${process.pid} \\(a program, since .*has the store open`));
    assert.match(held.commands, /unspent status --watch/);

    const file = join(work, 'unspent.toml');
    writeFileSync(file, '[log]\nlevel = "warn"\n');
    const configured = await welcome(data, '--config', file);
    assert.equal(configured.config, file);
    assert.match(configured.text, /settings +\S+unspent\.toml \(data, log\.level\)|settings +\S+unspent\.toml \(.*log\.level/);

    truncateSync(join(data, 'unspent.json'), 10);
    const damaged = await welcome(data);
    assert.deepEqual([damaged.state, damaged.detail], ['unreadable', 'STORE_DAMAGED']);
    assert.equal(damaged.commands, 'unspent restore DIR --data NEW\nunspent sync --source URL --data NEW');
  });

  test('of a store that is not finished, or of another format', async () => {
    const data = join(temporary(), 'data');
    await document(['sync', '--source', 'devnet:?blocks=2', '--data', data]);
    const identity = readAnyIdentity(data)!;
    const cases: [state: string, detail: string | null, text: RegExp, commands: string[], change: object][] = [
      ['unfinished', 'import', /a snapshot was being imported/, [`snapshot import DIR --data ${data}`], { importing: true }],
      ['unfinished', 'restore', /a backup was being restored/, [`restore DIR --data ${data}`], { importing: 'backup' }],
      ['unfinished', 'upgrade', /was being upgraded/, [`upgrade --data ${data}`], { upgrading: { from: 1 } }],
      [
        'outdated',
        null,
        /a store of devnet in format 1; this version reads \d/,
        [`upgrade --dry-run --data ${data}`, `backup DIR --data ${data}`, `upgrade --data ${data}`],
        { schema: 1 },
      ],
    ];
    for (const [state, detail, text, commands, change] of cases) {
      writeIdentity(data, { ...identity, ...change });
      const found = await welcome(data);
      assert.deepEqual([found.state, found.detail, found.network], [state, detail, 'devnet']);
      assert.match(found.text, text);
      assert.equal(found.commands, commands.map((command) => `unspent ${command}`).join('\n'));
    }
    writeIdentity(data, { ...identity, schema: 99 });
    const newer = await welcome(data);
    assert.deepEqual([newer.state, newer.detail], ['unreadable', 'STORE_SCHEMA']);
    assert.match(newer.commands, /^npm install/);
  });

  test('of a directory that holds something else', async () => {
    const work = temporary();
    writeFileSync(join(work, 'letter.txt'), 'x');
    const found = await welcome(work);
    assert.equal(found.state, 'unreadable');
    assert.match(found.text, /letter\.txt/);
  });

  test('what is no command is still an error, with what was meant', async () => {
    assert.match((await failure(['stauts'], 'USAGE', 2)).message, /unknown command 'stauts'; did you mean 'status'\?/);
    assert.match((await failure(['--netwrok', 'preview'], 'USAGE', 2)).message, /unknown option '--netwrok'; did you mean '--network'\?/);
    assert.match((await failure(['query', 'adress', 'x'], 'USAGE', 2)).message, /did you mean 'address'\?/);
    const network = await failure(
      ['sync', '--source', 'n2n://127.0.0.1:1', '--network', 'preprodd', '--data', join(temporary(), 'x')],
      'NETWORK_UNKNOWN',
      3,
    );
    assert.match(network.message, /did you mean 'preprod'\?$/);
    const start = await failure(['start', '--network', 'preveiw', '--data', join(temporary(), 'x')], 'NETWORK_UNKNOWN', 3);
    assert.match(start.message, /did you mean 'preview'\?$/);
    const source = await failure(['sync', '--source', '/node/db', '--data', join(temporary(), 'x')], 'SOURCE_UNKNOWN', 2);
    assert.match(source.message, /did you mean 'immutable:\/node\/db' or 'n2c:\/node\/db' \(Cardano\)/);
    const help = await failure(['rollback', '--data', temporary()], 'USAGE', 2);
    assert.equal(help.advice, '`unspent rollback --help` shows how it is called.');
  });
});
