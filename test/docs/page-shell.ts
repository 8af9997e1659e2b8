/**
 * The shell in which the blocks of a page are run: bash in an empty directory,
 * with `unspent` on its path and free ports in place of those that the page
 * names. Commands that look at a store or work on it and are done are handed to
 * the process of the test, which takes a tenth of the time that a process of its
 * own takes (`test/cli/in-process.test.ts` shows that they say the same); `start`,
 * `serve` and the like are processes as users have them.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { BIN, runsHere, temporary, unspentHere } from '../cli/run.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/patience.ts';
import { timeless } from './page-blocks.ts';

const VARIABLES = '.variables';
const SERVER_PORT = '8437';
const BLOCKS_SPOKEN_OF = 8;
const PORT = /(?<=127\.0\.0\.1:|localhost:|-port )\d{4,5}\b/g;
/** What the test answers to a command that it leaves to a process. */
const AS_PROCESS = 'process';

/** Hands directory, variables and words to the test, and says what it says. */
const HANDED_OVER = (socket: string, directory: string): string => `#!/bin/bash
said=$(mktemp -d ${directory}/.said.XXXXXX)
fields=("$PWD" "$said")
for name in "\${!UNSPENT_@}"; do fields+=("$name=\${!name}"); done
code=$(printf '%s\\0' "\${fields[@]}" '' "$@" | curl -s --unix-socket ${socket} --data-binary @- http://unspent/)
[ "$code" = ${AS_PROCESS} ] && exec ${BIN} "$@"
cat "$said/stdout"
cat "$said/stderr" >&2
exit "\${code:-70}"
`;

/** What a process has said so far. */
interface Said {
  readonly child: ChildProcess;
  all: string;
  stdout: string;
}

export class PageShell {
  readonly directory = temporary();
  private readonly ports = new Map<string, string>();
  private readonly servers: ChildProcess[] = [];
  private readonly env: NodeJS.ProcessEnv;
  private readonly listener: Server;
  private readonly home = process.cwd();
  private working: Promise<unknown> = Promise.resolve();

  private constructor(port: number) {
    this.ports.set(SERVER_PORT, String(port));
    const path = join(this.directory, '.bin');
    const socket = join(this.directory, '.socket');
    mkdirSync(path);
    writeFileSync(join(path, 'unspent'), HANDED_OVER(socket, this.directory), { mode: 0o755 });
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('UNSPENT_') && name !== 'NODE_TEST_CONTEXT');
    this.env = {
      ...Object.fromEntries(inherited),
      PATH: `${path}:${process.env['PATH']}`,
      HOME: this.directory,
      UNSPENT_SERVER_PORT: String(port),
    };
    this.listener = createServer(async (request, response) => {
      const fields = (await textOf(request)).split('\0').slice(0, -1);
      this.working = this.working.then(() => this.command(fields)).then((code) => response.end(code));
    }).listen(socket);
  }

  static async open(): Promise<PageShell> {
    const shell = new PageShell(await freePort());
    await once(shell.listener, 'listening');
    return shell;
  }

  private async command(fields: readonly string[]): Promise<string> {
    const [cwd, said, ...rest] = fields;
    const variables = rest.slice(0, rest.indexOf(''));
    const args = rest.slice(variables.length + 1);
    if (!runsHere(args)) return AS_PROCESS;
    process.chdir(cwd);
    try {
      const { code, stdout, stderr } = await unspentHere(args, Object.fromEntries(variables.map((each) => each.split(/=(.*)/s, 2))));
      writeFileSync(join(said, 'stdout'), stdout);
      writeFileSync(join(said, 'stderr'), stderr);
      return String(code);
    } finally {
      process.chdir(this.home);
    }
  }

  /** Begins a server, and waits until it is ready and has the blocks that pages speak of. */
  async begin(text: string): Promise<void> {
    const said = await this.serve(text);
    await eventually(async () => {
      const { height = 0 } = (await (await fetch(`${this.url}/api/v1/blocks/latest`)).json()) as { height?: number };
      assert.ok(height >= BLOCKS_SPOKEN_OF, `at height ${height}: ${said.all}`);
    });
  }

  /** Begins a server, and waits until it is ready. */
  async serve(text: string): Promise<Said> {
    const said = await this.stay(text);
    await eventually(async () => {
      assert.equal(said.child.exitCode, null, `it ended: ${said.all}`);
      assert.equal((await fetch(`${this.url}/ready`)).status, 200, said.all);
    });
    return said;
  }

  /** Begins what goes on, and waits until it has said all of it, each at the beginning of a line. */
  async hear(text: string, words: readonly string[]): Promise<void> {
    const said = await this.stay(text);
    await eventually(() => {
      for (const word of words) assert.ok(`\n${timeless(said.all)}`.includes(`\n${word}`), `${text}\nsays no ${word}: ${said.all}`);
    });
  }

  /** What earlier blocks have set. */
  private get variables(): string {
    const kept = join(this.directory, VARIABLES);
    return `[ ! -e ${kept} ] || . ${kept}`;
  }

  private get url(): string {
    return `http://127.0.0.1:${this.ports.get(SERVER_PORT)}`;
  }

  private async stay(text: string): Promise<Said> {
    const [, where, command] = /^((?:cd \w+ && )?)([\s\S]*)$/.exec((await this.withPorts(text)).trim()) ?? [];
    const script = `${this.variables}\n${where}exec env ${command}`;
    const child = spawn('bash', ['-c', script], { cwd: this.directory, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.servers.push(child);
    return collected(child);
  }

  /** Ports that are what they are: of nodes that listen already. */
  keepPorts(text: string): void {
    for (const [port] of text.matchAll(PORT)) this.ports.set(port, port);
  }

  /** Variables that a block sets are there for the next one. Returns what it wrote. */
  async run(text: string): Promise<string> {
    const kept = join(this.directory, VARIABLES);
    const script = `set -e\n${this.variables}\n${await this.withPorts(text)}\ndeclare -p | grep -E '^declare -- [A-Z]+=' > ${kept} || true\n`;
    return await this.child('bash', ['-c', script], text);
  }

  async module(text: string): Promise<string> {
    const file = join(this.directory, 'block.mjs');
    writeFileSync(file, await this.withPorts(text));
    return await this.child(process.execPath, [file], text);
  }

  async endServers(): Promise<void> {
    for (const server of this.servers.splice(0)) {
      if (server.exitCode !== null || server.signalCode !== null) continue;
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
    }
  }

  async end(): Promise<void> {
    await this.endServers();
    this.listener.close();
  }

  private async child(file: string, args: readonly string[], text: string): Promise<string> {
    const child = spawn(file, args, { cwd: this.directory, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = collected(child);
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, `${text}\n${said.all}`);
    assert.doesNotMatch(said.all, /"code":"[A-Z_]+","advice"/, `${text}\nanswered with a problem`);
    return said.stdout;
  }

  private async withPorts(text: string): Promise<string> {
    for (const [port] of text.matchAll(PORT)) if (!this.ports.has(port)) this.ports.set(port, String(await freePort()));
    return text.replace(PORT, (port) => this.ports.get(port) ?? port);
  }
}

function collected(child: ChildProcess): Said {
  const said = { child, all: '', stdout: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    said.all += chunk;
    said.stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said.all += chunk;
  });
  return said;
}
