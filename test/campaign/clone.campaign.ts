/**
 * From a bare machine: the repository is cloned into an empty folder, and the two
 * commands of the README are run there as they stand, the second one with all
 * tests. Skipped where there is no registry of packages.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../support/patience.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'unspent-clone-'));
const clone = join(folder, 'unspent');
const COMMANDS = Array.from(readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^npm ci && .*$/gm), ([line]) => line);
const NO_REGISTRY = /ENOTFOUND|ENOTCACHED|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ECONNRESET/;

/** Nothing of this checkout: neither its packages nor what its tests were started with. */
const env: NodeJS.ProcessEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(UNSPENT_|NODE_|npm_)/.test(name)));
env['PATH'] = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((path) => !path.includes('node_modules'))
  .join(delimiter);

class Shell {
  said = '';
  code: number | undefined;
  private readonly child: ChildProcess;

  constructor(command: string, more: NodeJS.ProcessEnv = {}) {
    // In a group of its own, as a terminal has it: Ctrl-C reaches all of it.
    this.child = spawn('sh', ['-c', command], { cwd: clone, env: { ...env, ...more }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.said += text;
      });
    // A shell ends by the signal that its command ended by.
    this.child.once('close', (code, signal) => {
      this.code = code ?? (signal === 'SIGINT' ? 130 : 1);
    });
  }

  signal(name: NodeJS.Signals): void {
    if (this.code === undefined) process.kill(-this.child.pid!, name);
  }

  /** Without a limit of its own: packages come as fast as they come. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.code !== undefined) return;
      await until(() => this.code !== undefined || isSo(), 'more of it').catch(() => {});
    }
  }
}

describe('a clone', () => {
  before(() => {
    const { status, stderr } = spawnSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.equal(COMMANDS.length, 2);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('is set up and does the main job by the first command', async (t) => {
    const shell = new Shell(COMMANDS[0], { UNSPENT_SERVER_PORT: '0' });
    t.after(() => shell.signal('SIGKILL'));
    await shell.until(() => /page +open http:\S+/.test(shell.said));
    if (shell.code !== undefined && NO_REGISTRY.test(shell.said)) return t.skip('no registry');
    assert.equal(shell.code, undefined, shell.said);
    const url = /page +open (http:\S+)/.exec(shell.said)![1];
    assert.equal((await fetch(url)).status, 200);
    await shell.until(() => /rollback: \d+ blocks? undone/.test(shell.said));
    const { status, stdout } = spawnSync(join(clone, 'bin', 'unspent'), ['status'], { cwd: clone, env, encoding: 'utf8' });
    assert.equal(status, 0);
    assert.match(stdout, /^tip +height \d+/m);
    shell.signal('SIGINT');
    await shell.until(() => false);
    assert.equal(shell.code, 130, shell.said.slice(-2000));
    assert.match(shell.said, /stopped at height \d+/);
  });

  test('passes its tests by the second', async (t) => {
    const shell = new Shell(COMMANDS[1]);
    t.after(() => shell.signal('SIGKILL'));
    await shell.until(() => false);
    if (shell.code !== 0 && /^npm error/m.test(shell.said) && NO_REGISTRY.test(shell.said)) return t.skip('no registry');
    assert.equal(shell.code, 0, shell.said.slice(-5000));
  });
});
