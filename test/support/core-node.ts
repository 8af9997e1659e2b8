/**
 * A real node for tests, Bitcoin Core or a fork of it (`node-kinds.ts`), on a
 * chain of its own (regtest), in a folder of its own, on free ports. It does not
 * outlive the process that started it, however that ends: a guard beside it
 * waits for the end of a pipe and then ends the node and removes its folder.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { LITECOIND, type NodeKind } from './node-kinds.ts';
import { PATIENCE_MS } from './patience.ts';

/** Up in 1.5 s on an idle machine. */
/** A free port may be taken by somebody else before the node has it. */
const ATTEMPTS = 3;

/** An answer that is an error, in the node's words. */
export class NodeError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface NodeOptions {
  /** Default: litecoind, which everybody can install. */
  readonly kind?: NodeKind;
  /** Data directory; default: a new one that `stop` removes. */
  readonly dir?: string;
  /** Further options; one that is also among ours takes its place. */
  readonly args?: readonly string[];
  /** Let Litecoin's extension blocks begin, at height 432. Default: never. */
  readonly mweb?: boolean;
}

export async function startNode(options: NodeOptions = {}): Promise<CoreNode> {
  for (let attempt = 1; ; attempt++) {
    const node = new CoreNode(options, await freePort(), await freePort());
    try {
      await node.start();
      return node;
    } catch (error) {
      await node.stop();
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

export class CoreNode {
  readonly kind: NodeKind;
  readonly dir: string;
  readonly blocksDir: string;
  readonly rpcPort: number;
  readonly p2pPort: number;
  /** `rpc://user:password@host:port` */
  readonly rpcUrl: string;
  /** `p2p://host:port` */
  readonly p2pUrl: string;
  private readonly password = randomBytes(8).toString('hex');
  private readonly isOwnDir: boolean;
  private readonly args: readonly string[];
  private child: ChildProcess | null = null;
  private guard: ChildProcess | null = null;
  private readonly agent = new Agent({ keepAlive: true });
  private output = '';

  constructor({ kind = LITECOIND, dir, args = [], mweb = false }: NodeOptions, rpcPort: number, p2pPort: number) {
    this.kind = kind;
    this.isOwnDir = dir === undefined;
    this.dir = dir ?? mkdtempSync(join(tmpdir(), 'unspent-node-'));
    this.blocksDir = join(this.dir, 'regtest', 'blocks');
    this.rpcPort = rpcPort;
    this.p2pPort = p2pPort;
    this.rpcUrl = `rpc://u:${this.password}@127.0.0.1:${rpcPort}`;
    this.p2pUrl = `p2p://127.0.0.1:${p2pPort}`;
    const named = new Set(args.map(nameOf));
    const never = mweb || kind !== LITECOIND ? [] : ['-vbparams=mweb:-2:0:0:0'];
    this.args = [...[...this.defaults(), ...never].filter((arg) => !named.has(nameOf(arg))), ...args];
  }

  private defaults(): string[] {
    const rpc = [`-rpcport=${this.rpcPort}`, '-rpcbind=127.0.0.1', '-rpcallowip=127.0.0.1', '-rpcuser=u', `-rpcpassword=${this.password}`];
    // Refuses `-listen=0` together with `-bind`; `-connect=0` is how it is told to seek nobody.
    const p2p = [`-bind=127.0.0.1:${this.p2pPort}`, `-port=${this.p2pPort}`, '-listen=1', '-connect=0', '-listenonion=0', '-discover=0'];
    const alone = ['-dnsseed=0', '-printtoconsole=0'];
    // Generated blocks may be older than a day: without `-maxtipage` it would not answer a peer that asks for headers.
    const chain = ['-regtest', '-maxtipage=1000000000', ...this.kind.args];
    return [...chain, `-datadir=${this.dir}`, '-server=1', '-rest=1', '-rpcworkqueue=256', ...rpc, ...p2p, ...alone];
  }

  /** Returns when the node answers. `extra`: options of this start alone. */
  async start(extra: readonly string[] = []): Promise<void> {
    const child = spawn(this.kind.binary, [...this.args, ...extra], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    this.output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (this.output += text));
    const remove = this.isOwnDir ? 'rm -rf "$2"' : ':';
    this.guard = spawn('sh', ['-c', `trap "" INT TERM HUP; read _; kill -9 "$1"; sleep 1; ${remove}`, 'guard', `${child.pid}`, this.dir], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.guard.unref();
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await this.answers())) {
      if (child.exitCode !== null) throw new Error(`the node stopped at once: ${this.output}`);
      if (Date.now() > deadline) throw new Error(`the node does not answer: ${this.output}`);
      await sleep(20);
    }
  }

  private async answers(): Promise<boolean> {
    try {
      await this.rpc('getblockchaininfo');
      return true;
    } catch (error) {
      // Before it listens the connection is refused, and while it loads each call is an error of its own.
      const isRefused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
      if (isRefused || (error instanceof NodeError && error.code === -28)) return false;
      throw error;
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer.
  async rpc<T = any>(method: string, ...params: unknown[]): Promise<T> {
    return this.call('/', method, params);
  }

  /** Of one of its wallets: needed where several are loaded. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async walletRpc<T = any>(wallet: string, method: string, ...params: unknown[]): Promise<T> {
    return this.call(`/wallet/${wallet}`, method, params);
  }

  private async call<T>(path: string, method: string, params: readonly unknown[]): Promise<T> {
    const { status, text } = await this.post(path, JSON.stringify({ jsonrpc: '1.0', id: 1, method, params }));
    if (!text.startsWith('{')) throw new Error(`${method}: HTTP ${status} ${text}`);
    const { result, error } = JSON.parse(text);
    if (error !== null) throw new NodeError(error.code, `${method}: ${error.message}`);
    return result;
  }

  private post(path: string, body: string): Promise<{ status: number | undefined; text: string }> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const where = { host: '127.0.0.1', port: this.rpcPort, auth: `u:${this.password}`, method: 'POST', path };
      const posted = request({ ...where, headers, agent: this.agent }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part) => (text += part));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode, text }));
      });
      posted.on('error', (error) => {
        // It closes what was idle for half a minute, perhaps in the moment in which it is used again.
        if (posted.reusedSocket && 'code' in error && ['ECONNRESET', 'EPIPE'].includes(`${error.code}`)) resolve(this.post(path, body));
        else reject(error);
      });
      posted.end(body);
    });
  }

  /** Stops it in order and starts it again on the same ports. */
  async restart(extra: readonly string[] = []): Promise<void> {
    await this.end();
    await this.start(extra);
  }

  /** Stops it, and removes its folder if that was made for it. */
  async stop(): Promise<void> {
    await this.end();
    if (this.isOwnDir) rmSync(this.dir, { recursive: true, force: true });
  }

  /** Stops it as an operator would; what it knows is on disk then. */
  async end(): Promise<void> {
    const { child, guard } = this;
    this.child = null;
    this.guard = null;
    // It would wait for connections that are kept for a next call.
    this.agent.destroy();
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    }
    guard?.kill('SIGKILL');
  }
}

function nameOf(arg: string): string {
  return arg.split('=')[0];
}
