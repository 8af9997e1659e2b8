/**
 * The shell in which the blocks of a page are run: bash in an empty directory,
 * with `unspent` on its path and free ports in place of those that the page
 * names. Commands that look at a store or work on it and are done are handed to
 * the process of the test, which takes a tenth of the time that a process of its
 * own takes (`test/cli/in-process.test.ts` shows that they say the same), and so
 * are servers; what goes on without being one is a process as users have it.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Server, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { BIN, runsHere, temporary, unspentHere } from '../cli/run.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/patience.ts';
import { timeless } from './page-blocks.ts';

const { createServer } = process.getBuiltinModule('node:http');
const VARIABLES = '.variables';
const SERVER_PORT = '8437';
const BLOCKS_SPOKEN_OF = 8;
const PORT = /(?<=127\.0\.0\.1:|localhost:|-port )\d{4,5}\b/g;
/** What the test answers to a command that it leaves to a process. */
const AS_PROCESS = 'process';

const SERVERS_PATH = '/servers';
const SERVER = /^(?:[A-Z_]+=\S+ )*unspent (?:start|serve)\b/;

/** Hands directory, variables and words to the test, and says what it says: of a server, for as long as it goes on. */
const HANDED_OVER = (socket: string, directory: string): string => `#!/bin/bash
said=$(mktemp -d ${directory}/.said.XXXXXX)
fields=("$PWD" "$said")
for name in "\${!UNSPENT_@}"; do fields+=("$name=\${!name}"); done
case "$PWD $1" in '${directory} start' | '${directory} serve')
  printf '%s\\0' "\${fields[@]}" '' "$@" | curl -sN --unix-socket ${socket} --data-binary @- http://unspent${SERVERS_PATH}
  exit ;;
esac
code=$(printf '%s\\0' "\${fields[@]}" '' "$@" | curl -s --unix-socket ${socket} --data-binary @- http://unspent/)
[ "$code" = ${AS_PROCESS} ] && exec ${BIN} "$@"
cat "$said/stdout"
cat "$said/stderr" >&2
exit "\${code:-70}"
`;

/** A command, and where it is run. */
interface HandedOver {
  readonly cwd: string;
  /** The folder for what it says. */
  readonly said: string;
  readonly env: NodeJS.ProcessEnv;
  readonly args: readonly string[];
}

function handedOver(text: string): HandedOver {
  const [cwd, said, ...rest] = text.split('\0').slice(0, -1);
  const variables = rest.slice(0, rest.indexOf(''));
  const env = Object.fromEntries(variables.map((each) => each.split(/=(.*)/s, 2)));
  return { cwd, said, env, args: rest.slice(variables.length + 1) };
}

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
  /** Those of them that only pass on what a server in our own process says. */
  private readonly here = new Set<ChildProcess>();
  /** Of our own process, before commands listen to what ends them. */
  private readonly enders = process.listeners('SIGTERM');
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
      const asked = handedOver(await textOf(request));
      const isServer = request.url === SERVERS_PATH;
      this.working = this.working.then(() => (isServer ? void this.server(asked, response) : this.command(asked, response)));
    }).listen(socket);
    process.chdir(this.directory);
  }

  static async open(): Promise<PageShell> {
    const shell = new PageShell(await freePort());
    await once(shell.listener, 'listening');
    return shell;
  }

  private async command({ cwd, said, env, args }: HandedOver, response: ServerResponse): Promise<void> {
    if (!runsHere(args)) return void response.end(AS_PROCESS);
    process.chdir(cwd);
    try {
      const { code, stdout, stderr } = await unspentHere(args, env);
      writeFileSync(join(said, 'stdout'), stdout);
      writeFileSync(join(said, 'stderr'), stderr);
      response.end(String(code));
    } finally {
      process.chdir(this.directory);
    }
  }

  /** In the directory of the page, where this process stays while a server goes on. */
  private async server({ env, args }: HandedOver, response: ServerResponse): Promise<void> {
    response.flushHeaders();
    await unspentHere(args, env, { hears: (text) => void response.write(text) });
    response.end();
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
    if (where === '' && SERVER.test(command)) this.here.add(child);
    return collected(child);
  }

  /** Ports that are what they are: of nodes that listen already. */
  keepPorts(text: string): void {
    for (const [port] of text.matchAll(PORT)) this.ports.set(port, port);
  }

  /** Variables that a block sets are there for the next one. Returns what it wrote. */
  async run(text: string): Promise<string> {
    const kept = join(this.directory, VARIABLES);
    const script = `set -e\n${this.variables}\n${await this.withPorts(text)}\ndeclare -p | grep -E '^declare (-- [A-Z]+|-x UNSPENT_[A-Z_]+)=' > ${kept} || true\n`;
    return await this.child('bash', ['-c', script], text);
  }

  async module(text: string): Promise<string> {
    const file = join(this.directory, 'block.mjs');
    writeFileSync(file, await this.withPorts(text));
    return await this.child(process.execPath, [file], text);
  }

  async endServers(): Promise<void> {
    const servers = this.servers.splice(0).filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const ended = servers.map((server) => once(server, 'exit'));
    // Those in our own process have heard nothing of it.
    for (const listener of process.listeners('SIGTERM')) if (!this.enders.includes(listener)) listener('SIGTERM');
    for (const server of servers) if (!this.here.has(server)) server.kill('SIGTERM');
    await Promise.all(ended);
  }

  async end(): Promise<void> {
    await this.endServers();
    this.listener.close();
    process.chdir(this.home);
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
