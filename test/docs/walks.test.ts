/**
 * The quick starts and how-to pages, as a newcomer would go through them: every
 * block of a page is run, from top to bottom, in a shell in an empty directory.
 * Ports that a page names are replaced by free ones.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporary } from '../cli/run.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/patience.ts';
import { blocksOf, ROOT, WALKS } from './page-blocks.ts';

const HAS_CURL = spawnSync('curl', ['--version']).status === 0;
const SERVER_PORT = '8437';
const BLOCKS_SPOKEN_OF = 8;
const PORT = /(?<=127\.0\.0\.1:|-port )\d{4,5}/g;

/** One page: its directory, its ports, its servers, and what its shells hand on to each other. */
class Walk {
  private readonly directory = temporary();
  private readonly ports = new Map<string, string>();
  private readonly servers: ChildProcess[] = [];
  private readonly env: NodeJS.ProcessEnv;

  constructor(port: number) {
    this.ports.set(SERVER_PORT, String(port));
    const path = join(this.directory, '.bin');
    mkdirSync(path);
    symlinkSync(join(ROOT, 'bin/unspent'), join(path, 'unspent'));
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('UNSPENT_') && name !== 'NODE_TEST_CONTEXT');
    this.env = { ...Object.fromEntries(inherited), PATH: `${path}:${process.env['PATH']}`, UNSPENT_SERVER_PORT: String(port) };
  }

  async begin(text: string): Promise<void> {
    const script = await this.withPorts(text);
    const child = spawn('bash', ['-c', `exec ${script.trim()}`], { cwd: this.directory, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
      });
    }
    this.servers.push(child);
    await eventually(async () => {
      assert.equal(child.exitCode, null, `it ended: ${said}`);
      assert.equal((await fetch(`http://127.0.0.1:${this.ports.get(SERVER_PORT)}/ready`)).status, 200, said);
    });
    // Pages speak of blocks that a chain which has just begun may not have yet.
    await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${this.ports.get(SERVER_PORT)}/api/v1/blocks/latest`);
      const { height = 0 } = (await response.json()) as { height?: number };
      assert.ok(height >= BLOCKS_SPOKEN_OF, `at height ${height}: ${said}`);
    });
  }

  /** Variables that a block sets are there for the next one. */
  async run(text: string): Promise<void> {
    const kept = join(this.directory, '.variables');
    const script = `set -e\n[ -e ${kept} ] && . ${kept}\n${await this.withPorts(text)}\ndeclare -p | grep -E '^declare -- [A-Z]+=' > ${kept} || true\n`;
    await this.child('bash', ['-c', script], text);
  }

  async module(text: string): Promise<void> {
    const file = join(this.directory, 'block.mjs');
    writeFileSync(file, await this.withPorts(text));
    await this.child(process.execPath, [file], text);
  }

  async end(): Promise<void> {
    for (const server of this.servers) {
      if (server.exitCode !== null || server.signalCode !== null) continue;
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
    }
  }

  private async child(file: string, args: readonly string[], text: string): Promise<void> {
    const child = spawn(file, args, { cwd: this.directory, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
      });
    }
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, `${text}\n${said}`);
    assert.doesNotMatch(said, /"code":"[A-Z_]+","advice"/, `${text}\nanswered with a problem`);
  }

  private async withPorts(text: string): Promise<string> {
    for (const [port] of text.matchAll(PORT)) if (!this.ports.has(port)) this.ports.set(port, String(await freePort()));
    return text.replace(PORT, (port) => this.ports.get(port) ?? port);
  }
}

describe('pages that are walked through', { skip: HAS_CURL ? false : 'there is no curl' }, () => {
  for (const page of WALKS) {
    test(page, async () => {
      const walk = new Walk(await freePort());
      try {
        for (const { language, how, text } of blocksOf(page)) {
          if (how === 'elsewhere') continue;
          assert.ok(['sh', 'js'].includes(language) && ['', 'background'].includes(how), `nobody knows how to run: ${language} ${how}`);
          if (how === 'background') await walk.begin(text);
          else if (language === 'js') await walk.module(text);
          else await walk.run(text);
        }
      } finally {
        await walk.end();
      }
    });
  }
});
