/**
 * The real nodes that tests can run: Debian's `litecoind`, a fork of Bitcoin
 * Core, and `bitcoind` itself where there is one. The same steps are run with
 * each that is there; one that is not is counted as skipped.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface NodeKind {
  readonly name: 'litecoind' | 'bitcoind';
  /** Ours, of the chain it makes. */
  readonly network: 'litecoin-regtest' | 'bitcoin-regtest';
  readonly binary: string;
  /** Options that the other does not have. */
  readonly args: readonly string[];
  /** Of the hash of the set that `gettxoutsetinfo` gives when it is not asked for another. */
  readonly setHash: 'hash_serialized_2' | 'hash_serialized_3';
  readonly hasMuHash: boolean;
  /** How to get one. */
  readonly install: string;
}

export const LITECOIND: NodeKind = {
  name: 'litecoind',
  network: 'litecoin-regtest',
  // The program itself: what stands in /usr/bin is a script that writes into the home directory.
  binary: process.env['UNSPENT_LITECOIND'] ?? '/usr/lib/litecoin/litecoind',
  args: ['-upnp=0', '-fallbackfee=0.0001', '-mempoolreplacement=1'],
  setHash: 'hash_serialized_2',
  hasMuHash: false,
  install: 'apt-get install litecoind; UNSPENT_TEST_INSTALL=1 lets the tests do it as root',
};

export const BITCOIND: NodeKind = {
  name: 'bitcoind',
  network: 'bitcoin-regtest',
  binary: process.env['UNSPENT_BITCOIND'] ?? onPath('bitcoind') ?? 'bitcoind',
  args: [],
  setHash: 'hash_serialized_3',
  hasMuHash: true,
  install: 'put one on the path, or name it with UNSPENT_BITCOIND',
};

export const NODE_KINDS: readonly NodeKind[] = [LITECOIND, BITCOIND];

const reasons = new Map<NodeKind, string | false>();

/** False, or why there is no such node to test with: for `skip`. Installs litecoind where that is allowed (UNSPENT_TEST_INSTALL=1, as root). */
export function nodeMissing(kind: NodeKind = LITECOIND): string | false {
  const reason = reasons.get(kind) ?? findNode(kind);
  reasons.set(kind, reason);
  return reason;
}

function findNode({ name, binary, install }: NodeKind): string | false {
  if (existsSync(binary)) return false;
  if (name !== 'litecoind' || process.env['UNSPENT_TEST_INSTALL'] !== '1' || process.getuid?.() !== 0)
    return `there is no ${binary} (${install})`;
  // Test files run side by side: one installs, the others wait and find it.
  const lock = join(tmpdir(), 'unspent-install.lock');
  const command = `test -e "${binary}" || (apt-get update -qq && apt-get install -y -qq --no-install-recommends litecoind)`;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, stderr } = spawnSync('flock', [lock, 'sh', '-c', command], { env, encoding: 'utf8' });
  return status === 0 && existsSync(binary) ? false : `litecoind could not be installed: ${stderr}`;
}

function onPath(program: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null;
}
