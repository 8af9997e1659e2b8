/**
 * `npm run freeze`: writes stores, a backup and snapshots of the present version
 * into test/store/frozen, for the versions that come (test/store/frozen.test.ts).
 * Done once for each format, before a package with it is released; what is there
 * is never written again. With a word, only what has it in its name.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DevnetChain } from '../../src/chains/cardano/devnet/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import { SCHEMA_VERSION } from '../../src/engine/directory.ts';
import { formatAddress } from '../../src/ledgers/cardano/index.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { fromHex } from '../../src/util/bytes.ts';
import { VERSION } from '../../src/util/version.ts';
import { type Frozen, frozenNames, packFolder, writeFrozen } from '../../test/support/frozen.ts';
import { RegtestAccount } from '../../test/support/regtest-account.ts';

const NEXT_BLOCKS = 3;
const BIN = resolve(import.meta.dirname, '../../bin/unspent');

interface MadeChain {
  readonly network: string;
  readonly genesis?: { readonly byron: string; readonly shelley: string };
  /** By height. */
  readonly blocks: readonly Uint8Array[];
  /** What `wallet create NAME` is given besides. */
  readonly wallet: readonly string[];
}

interface Variant {
  readonly chain: (isWhole: boolean) => MadeChain;
  readonly set: readonly string[];
  /** Keeps all there is to keep, has a wallet, and is frozen as a snapshot, too. */
  readonly isWhole?: boolean;
  /** Frozen as a backup, too: of what all stores have, one is enough. */
  readonly isBackedUp?: boolean;
}

const CARDANO_ALL = [
  ...['policy', 'asset', 'datumHash', 'referenceScript'].map((kind) => `utxo.index.${kind}=true`),
  ...['balances', 'datums', 'scripts', 'history'].map((name) => `utxo.${name}=true`),
  ...['proofs.setHash=true', 'proofs.csmt=true', 'cage.enabled=true', 'cage.deployments=devnet'],
];
const BITCOIN_ALL = ['utxo.history=true', 'utxo.balances=true', 'proofs.setHash=true', 'proofs.csmt=true', 'txs.store=embedded'];

const VARIANTS: Readonly<Record<string, Variant>> = {
  'cardano-rocks': { chain: cardano, set: ['engine.kind=rocks'] },
  'cardano-sqlite': { chain: cardano, set: ['engine.kind=sqlite'] },
  'cardano-all': { chain: cardano, set: ['engine.kind=rocks', ...CARDANO_ALL], isWhole: true, isBackedUp: true },
  'cardano-mmr': { chain: cardano, set: ['engine.kind=sqlite', 'utxo.store=mmr', 'utxo.delta.selfContained=true'] },
  'bitcoin-rocks': { chain: bitcoin, set: ['engine.kind=rocks'] },
  'bitcoin-sqlite': { chain: bitcoin, set: ['engine.kind=sqlite'] },
  'bitcoin-all': { chain: bitcoin, set: ['engine.kind=rocks', ...BITCOIN_ALL], isWhole: true },
};

function cardano(cages: boolean): MadeChain {
  const chain = new DevnetChain({ seed: 5, txPerBlock: 2, addresses: 3, cages });
  for (let i = 0; i < 10; i++) chain.mine();
  const owners = Array.from(chain.utxos.values(), ({ addressHex }) => formatAddress(fromHex(addressHex)));
  const wallet = owners.find((owner) => owner.startsWith('addr')) ?? '';
  return {
    network: 'devnet',
    genesis: { byron: chain.genesisByron, shelley: chain.genesisShelley },
    blocks: chain.blocks.map(({ raw }) => raw),
    wallet: ['--address', wallet],
  };
}

function bitcoin(isWhole: boolean): MadeChain {
  const account = new RegtestAccount(5);
  const { chain } = account;
  if (isWhole) {
    // From here on there are coins that may be spent.
    chain.mine(101);
    chain.fund(account.script(0, 0), 100_000n);
  }
  chain.mine(8);
  chain.mine(NEXT_BLOCKS);
  const blocks = Array.from({ length: chain.height + 1 }, (_, height) => chain.block(chain.hashAt(height)!)!);
  return { network: chain.network.name, blocks, wallet: [account.descriptor] };
}

async function freeze(name: string, { chain, set, isWhole = false, isBackedUp = false }: Variant, work: string): Promise<void> {
  const { network, genesis, blocks, wallet } = chain(isWhole);
  const data = join(work, 'data');
  const { config } = loadConfig({ flags: { set: [...set] }, env: {} });
  const store = await openStore({ data, network, genesis, config });
  const head = blocks.length - 1 - NEXT_BLOCKS;
  const early = await markAt(store, blocks, head - 4);
  const marks = { early, head: await markAt(store, blocks, head) };
  await store.close();
  const wallets = isWhole ? [makeWallet(data, wallet)] : [];
  const kept = join(work, 'kept');
  cpSync(data, kept, { recursive: true });
  const [backups, snapshot] = [join(work, 'backups'), join(work, 'snapshot')];
  if (isWhole) {
    if (isBackedUp) unspent(data, 'backup', backups, '--copy');
    unspent(data, 'snapshot', 'export', snapshot);
  }
  const again = await openStore({ data, create: false, config: loadConfig({ env: {} }).config });
  const last = await markAt(again, blocks, blocks.length - 1);
  await again.close();
  const facts = { schema: SCHEMA_VERSION, createdBy: VERSION, network, marks: { ...marks, last }, wallets };
  const next = blocks.slice(head + 1);
  const write = (kind: Frozen['kind'], folder: string): void => {
    const path = `schema-${SCHEMA_VERSION}-${name}${kind === 'store' ? '' : `-${kind}`}`;
    console.log(`${path}: ${writeFrozen(path, { kind, ...facts, next, files: packFolder(folder) })} bytes`);
  };
  write('store', kept);
  if (!isWhole) return;
  write('snapshot', snapshot);
  if (isBackedUp) write('backup', backups);
}

function makeWallet(data: string, wallet: readonly string[]): Frozen['wallets'][number] {
  const name = 'shop';
  unspent(data, 'wallet', 'create', name, ...wallet);
  const { total } = JSON.parse(unspent(data, 'wallet', 'balance', name, '--json')) as { total: string };
  return { name, total };
}

async function markAt(store: OpenStore, blocks: readonly Uint8Array[], height: number): Promise<Frozen['marks']['head']> {
  const { fold, network } = store;
  for (let next = (fold.head?.height ?? -1) + 1; next <= height; next++) fold.apply([network.ledger.decode(blocks[next], next)]);
  return { height, digest: store.digest().digest };
}

function unspent(data: string, ...args: string[]): string {
  return execFileSync(BIN, [...args, '--data', data, '--quiet'], { encoding: 'utf8' });
}

const [, , word = ''] = process.argv;
const there = frozenNames();
for (const [name, variant] of Object.entries(VARIANTS)) {
  if (!name.includes(word) || there.includes(`schema-${SCHEMA_VERSION}-${name}`)) continue;
  const work = mkdtempSync(join(tmpdir(), 'unspent-freeze-'));
  try {
    await freeze(name, variant, work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
