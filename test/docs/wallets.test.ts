/** The walk of docs/wallets.md: each of its commands runs, on a regtest store that has paid the account. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { openStore } from '../../src/store/store.ts';
import { temporary, unspentHere } from '../cli/run.ts';
import { MNEMONIC, RegtestAccount } from '../support/regtest-account.ts';
import { blockRunBy } from './page-blocks.ts';

const COMMAND = /^(?:([A-Z]+)=\$\()?unspent (.*?)\)?$/;

describe('docs/wallets.md', () => {
  it('shows commands that run', async () => {
    const directory = temporary();
    const account = new RegtestAccount(41);
    account.chain.mine(102);
    account.chain.fund(account.script(0, 0), 400_000n);
    account.chain.mine();
    const { config } = loadConfig({ flags: { set: ['utxo.history=true'] }, env: {} });
    const store = await openStore({ data: join(directory, 'data'), network: account.chain.network.name, config });
    account.apply(store);
    await store.close();
    writeFileSync(join(directory, 'words.txt'), MNEMONIC);

    const variables: Record<string, string> = { DESCRIPTOR: account.descriptor, PAYEE: account.address(0, 900) };
    const lines = blockRunBy('test/docs/wallets.test.ts', 'docs/wallets.md').trim().split('\n');
    let last = '';
    for (const line of lines) {
      const [, variable, command] = COMMAND.exec(line) ?? assert.fail(`not a command: ${line}`);
      const { code, stdout, stderr } = await unspentHere([...operandsOf(command, variables, directory), '--data', join(directory, 'data')]);
      assert.equal(code, 0, `${line}: ${stderr}`);
      if (variable !== undefined) variables[variable] = variable === 'TXID' ? (/[0-9a-f]{64}/.exec(stdout)?.[0] ?? '') : stdout.trim();
      last = stdout;
    }
    assert.equal(variables['ADDRESS'], account.address(0, 1));
    assert.match(last, /wallets are in/);
    assert.ok(existsSync(join(directory, 'wallets-backup.sqlite')));
  });
});

/** As a shell would take them: variables filled in, quotes off. Files are in the directory; no server runs here. */
function operandsOf(command: string, variables: Readonly<Record<string, string>>, directory: string): string[] {
  const operands = [...command.replace(/ --server \S+/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);
  const filled = operands.map((operand) => operand.replace(/\$([A-Z]+)/g, (_all, name: string) => variables[name] ?? assert.fail(name)));
  return filled.map((operand) => (/\.(psbt|txt|sqlite)$/.test(operand) ? join(directory, operand) : operand));
}
