/**
 * Debian's Electrum as a daemon without a screen, in a directory of its own:
 * connected to one server only, and spoken to over its own JSON-RPC.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../support/free-port.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';

/** For the options of a test. */
export const needsElectrum: { readonly skip: string | false } = {
  skip:
    spawnSync('electrum', ['--offline', 'version'], { stdio: 'ignore', timeout: PATIENCE_MS }).status === 0
      ? false
      : 'needs the command `electrum` (Debian package electrum)',
};

export class Wallet {
  readonly directory: string;
  private readonly daemon: ChildProcess;
  private readonly url: string;
  private readonly exited: Promise<unknown>;
  private output = '';

  private constructor(directory: string, rpcPort: number) {
    this.directory = directory;
    this.url = `http://127.0.0.1:${rpcPort}`;
    this.daemon = spawn('electrum', ['--regtest', '-D', directory, 'daemon'], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.exited = new Promise((resolve) => this.daemon.once('exit', resolve));
    for (const stream of [this.daemon.stdout, this.daemon.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output = (this.output + chunk.toString()).slice(-4000);
      });
    }
  }

  static async open(serverPort: number): Promise<Wallet> {
    const directory = mkdtempSync(join(tmpdir(), 'unspent-electrum-'));
    const rpcPort = await freePort();
    const server = { server: `127.0.0.1:${serverPort}:t`, oneserver: true, config_version: 3 };
    const settings = {
      ...server,
      rpcport: rpcPort,
      rpcuser: 'u',
      rpcpassword: 'p',
      check_updates: false,
      dynamic_fees: false,
      fee_per_kb: 5000,
    };
    mkdirSync(join(directory, 'regtest'));
    writeFileSync(join(directory, 'regtest', 'config'), JSON.stringify(settings));
    const wallet = new Wallet(directory, rpcPort);
    await wallet.eventually(async () => wallet.ask('version'));
    return wallet;
  }

  async ask<T = unknown>(method: string, params: object = {}): Promise<T> {
    const headers = { authorization: `Basic ${btoa('u:p')}`, 'content-type': 'application/json' };
    const response = await fetch(this.url, { method: 'POST', headers, body: JSON.stringify({ id: 1, method, params }) });
    const { result, error } = (await response.json()) as { result: T; error?: unknown };
    if (error !== undefined && error !== null) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** A wallet of that name from an address or a seed, loaded. */
  async restore(name: string, text: string): Promise<string> {
    const wallet_path = join(this.directory, name);
    await this.ask('restore', { text, wallet_path });
    await this.ask('load_wallet', { wallet_path });
    return wallet_path;
  }

  /** Waits until it does not throw. */
  async eventually<T>(body: () => Promise<T>, ms = PATIENCE_MS): Promise<T> {
    for (const end = performance.now() + ms; ; ) {
      try {
        return await body();
      } catch (error) {
        if (performance.now() > end || this.daemon.exitCode !== null)
          throw new Error(`${error}\nelectrum said: ${this.output}`, { cause: error });
        await sleep(100);
      }
    }
  }

  async close(): Promise<void> {
    this.daemon.kill();
    const stuck = setTimeout(() => this.daemon.kill('SIGKILL'), 10_000);
    await this.exited;
    clearTimeout(stuck);
    rmSync(this.directory, { recursive: true, force: true });
  }
}
