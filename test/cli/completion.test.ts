/**
 * Completion in real shells: what is offered is what the program knows. Bash is
 * everywhere these tests run; the others are skipped where they are not.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { networkNames } from '../../src/families/networks.ts';
import { needsPty, Pty } from '../support/pty.ts';
import { failure, temporary, unspentHere } from './run.ts';

const cwd = temporary();
mkdirSync(join(cwd, 'chunks'));
writeFileSync(join(cwd, 'proof.json'), '');

async function script(shell: string): Promise<string> {
  const { code, stdout } = await unspentHere(['completion', shell]);
  assert.equal(code, 0);
  writeFileSync(join(cwd, `completion.${shell}`), stdout);
  return stdout;
}

function run(shell: string, text: string): string {
  const { status, stdout, stderr } = spawnSync(shell, ['-c', text], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, HOME: cwd, TERM: 'dumb' },
  });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return stdout;
}

const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;
const skipWithout = (shell: string) => ({ skip: isThere(shell) ? false : `there is no ${shell}` });

/** What each line is completed to. */
const CASES: readonly (readonly [line: string, expected: readonly string[]])[] = [
  ['unspent sta', ['start', 'status']],
  ['unspent snapshot ', ['export', 'verify', 'import']],
  ['unspent --data x query add', ['address']],
  ['unspent sync --network bitcoin-', networkNames().filter((name) => name.startsWith('bitcoin-'))],
  ['unspent sync --network=prev', ['preview']],
  ['unspent sync --utxo-store ', ['classic', 'mmr']],
  ['unspent --utxo-balances ', ['true', 'false']],
  ['unspent completion ', ['bash', 'zsh', 'fish']],
  ['unspent sync --par', ['--partial']],
  ['unspent status --utxo-prune-d', ['--utxo-prune-depth']],
];

describe('completion', () => {
  test('in bash, by a Tab that is typed', needsPty, async (t) => {
    writeFileSync(join(cwd, 'bashrc'), `${await script('bash')}\nPS1='$ '\nbind 'set enable-bracketed-paste off'\n`);
    const pty = new Pty(t, ['--rcfile', join(cwd, 'bashrc'), '-i'], { cwd, program: 'bash', env: { HOME: cwd } });
    await pty.shows(/^\$$/m);
    pty.type('unspent snapshot ex\t');
    await pty.shows(/^\$ unspent snapshot export$/m);
    pty.type('\x15unspent sta\t\t');
    await pty.shows(/^start +status$/m);
    pty.type('\x15exit\r');
    await pty.end;
  });

  test('in bash', skipWithout('bash'), async () => {
    await script('bash');
    const lines = [
      ...CASES,
      // Bash breaks words at : and =, so what it is given is what comes behind.
      ['unspent --set log.format=j', ['json']],
      ['unspent --set log.fo', ['log.format=text', 'log.format=json']],
      ['unspent sync --source imm', ['immutable:']],
      ['unspent sync --source immutable:ch', ['chunks']],
      ['unspent snapshot import ch', ['chunks']],
      ['unspent verify-proof pr', ['proof.json']],
      ['unspent query address addr', []],
    ] as const;
    const probes = lines.map(([line]) => `COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMPREPLY=(); _unspent; echo "\${COMPREPLY[*]}"`);
    const offered = run('bash', ['source ./completion.bash', 'complete -p unspent >/dev/null', ...probes].join('\n')).split('\n');
    for (const [i, [line, expected]] of lines.entries()) assert.deepEqual(offered[i].split(' ').filter(Boolean), expected, line);
  });

  test('in fish', skipWithout('fish'), async () => {
    await script('fish');
    const probes = CASES.map(([line]) => `complete -C '${line}'; echo ---`);
    const offered = run('fish', ['source ./completion.fish', ...probes].join('\n')).split('---\n');
    CASES.forEach(([line, expected], i) => {
      const words = offered[i].split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t')[0].replace(/^--network=/, '')]));
      assert.deepEqual(new Set(words), new Set(expected), line);
    });
  });

  test('in zsh', skipWithout('zsh'), async () => {
    await script('zsh');
    // What would be offered is written down instead: completion itself needs a terminal.
    const probe = [
      'autoload -U compinit && compinit -u -d ./dump',
      'source ./completion.zsh',
      `compadd() { local -a got; while [[ $1 == -* ]]; do case $1 in -a) shift; got=("\${(@P)1}");; -S) shift;; esac; shift; done; print -r -- \${got}; }`,
      `_describe() { [[ $1 == -o ]] && shift; shift; local name; for name in "$@"; do [[ $name == -- ]] || print -r -- \${\${(@P)name}%%:*}; done; }`,
      ...CASES.filter(([line]) => !line.includes('=')).map(
        ([line]) => `line='${line}'; words=(\${(s: :)line}); [[ $line == *" " ]] && words+=(""); CURRENT=\${#words}; _unspent; echo ---`,
      ),
    ];
    const offered = run('zsh', probe.join('\n')).split('---\n');
    CASES.filter(([line]) => !line.includes('=')).forEach(([line, expected], i) => {
      const typed = line.slice(line.lastIndexOf(' ') + 1);
      const words = offered[i].split(/\s+/).filter((word) => word !== '' && word.startsWith(typed));
      assert.deepEqual(new Set(words), new Set(expected), line);
    });
  });

  test('of another shell there is none', async () => {
    assert.match((await failure(['completion', 'zhs'], 'USAGE', 2)).message, /did you mean 'zsh'/);
  });
});
