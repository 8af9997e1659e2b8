/**
 * Stores that blocks of pages take for granted (`with store`, `with tree`, ...),
 * made in the directory of the page: each returns what stands for the reader's
 * own outputs, addresses and roots.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { formatAddress, readAddress } from '../../src/ledgers/cardano/index.ts';
import { openStore } from '../../src/store/store.ts';
import { fromHex } from '../../src/util/bytes.ts';
import { unspentHere } from '../cli/run.ts';
import { DevnetStore } from '../support/devnet-store.ts';
import { eventually } from '../support/patience.ts';
import { MNEMONIC, RegtestAccount } from '../support/regtest-account.ts';
import type { PageShell } from './page-shell.ts';
import type { PageStage, Substitution } from './page-stage.ts';

const SEED = 41;
const PASSPHRASES = "UNSPENT_PASSPHRASE='correct horse' UNSPENT_NEW_PASSPHRASE='battery staple'";
/** Of the last line that a reader has. */
const LAST_POSITION: Substitution = [/POSITION/, `$(tail -n 1 state.jsonl | grep -o '"position":"[^"]*"' | cut -d '"' -f 4)`];
/** As `cardano-cli query protocol-parameters` has them. */
const PARAMETERS = { txFeePerByte: 44, txFeeFixed: 155_381, maxTxSize: 16_384, utxoCostPerByte: 4310, maxValueSize: 5000 };

export const PAGE_STORES: Readonly<Record<string, (shell: PageShell, stage: PageStage) => Promise<readonly Substitution[]>>> = {
  store,
  server,
  demo,
  tree,
  account,
  wallets,
  electrum,
};

async function quietly(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await unspentHere([...args, '--quiet']);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** Of the chain that the node of Cardano has, in each place where pages have theirs. */
async function store({ directory }: PageShell, stage: PageStage): Promise<readonly Substitution[]> {
  const { genesis, database } = await stage.cardanoFiles();
  const [data, ...copies] = ['preview', 'data', 'fresh', 'here/preview'].map((place) => join(directory, place));
  for (const each of [data, ...copies]) rmSync(each, { recursive: true, force: true });
  await quietly('sync', '--network', 'devnet', '--genesis', genesis, '--source', `immutable:${database}`, '--data', data);
  for (const copy of copies) cpSync(data, copy, { recursive: true });
  for (const file of ['state.jsonl', 'more.jsonl']) rmSync(join(directory, file), { force: true });
  for (const folder of ['there', 'mnt']) mkdirSync(join(directory, folder), { recursive: true });
  return [LAST_POSITION];
}

/** One that grows, and is served. */
async function server(shell: PageShell): Promise<readonly Substitution[]> {
  await shell.begin('unspent start --data ./devnet --quiet');
  const paid = await shell.run('curl -s http://127.0.0.1:8437/api/v1/blocks/3/changes');
  return [LAST_POSITION, [/addr_test1vr\.\.\./, /addr_test1[a-z0-9]*/.exec(paid)?.[0] ?? '']];
}

/** The chain of one's own with a wallet on it. */
async function demo(shell: PageShell): Promise<readonly Substitution[]> {
  await shell.begin('unspent start --network bitcoin-regtest --data ./regtest --quiet');
  await eventually(async () => assert.match(await shell.run('unspent wallet list --data ./regtest'), /demo/));
  return [];
}

/** With a tree over the unspent set. */
async function tree({ directory }: PageShell): Promise<readonly Substitution[]> {
  const data = join(directory, 'data');
  const devnet = await devnetAt(data, ['proofs.csmt=true', 'proofs.setHash=true']);
  const [address, stranger] = devnet.addresses().filter((each) => each.startsWith('addr_test1'));
  const outpointOf = (owner: string): string => keysOf(devnet, owner)[0];
  const { csmt, point } = JSON.parse(await quietly('root', '--data', data, '--json')) as { csmt: string; point: { height: number } };
  return [
    [/\bTXID#0/, outpointOf(address)],
    [/\bABSENT\b/, outpointOf(stranger)],
    [/\bADDRESS\b/, address],
    [/\bHEX\b/, csmt],
    [/\bNAME\b|(?<=--network )preview/, 'devnet'],
    [/height:\d+/, `height:${point.height - 5}`],
  ];
}

async function devnetAt(data: string, set: readonly string[] = []): Promise<DevnetStore> {
  rmSync(data, { recursive: true, force: true });
  const devnet = new DevnetStore(data, SEED, set);
  devnet.mine(30);
  await (await devnet.open()).close();
  return devnet;
}

/** Unspent outputs of an address, as `TXID#INDEX`. */
function keysOf(devnet: DevnetStore, address: string): string[] {
  return [...devnet.chain.utxos.values()].filter(({ addressHex }) => formatAddress(fromHex(addressHex)) === address).map(({ key }) => key);
}

/** Of Bitcoin's regtest, which has paid an account whose keys are at hand. */
async function account({ directory }: PageShell): Promise<readonly Substitution[]> {
  const data = join(directory, 'data');
  rmSync(data, { recursive: true, force: true });
  const owner = new RegtestAccount(SEED);
  owner.chain.mine(102);
  for (const value of [400_000n, 300_000n, 300_000n]) owner.chain.fund(owner.script(0, 0), value);
  owner.chain.mine();
  const { config } = loadConfig({ flags: { set: ['utxo.history=true'] }, env: {} });
  const opened = await openStore({ data, network: owner.chain.network.name, config });
  owner.apply(opened);
  await opened.close();
  writeFileSync(join(directory, 'words.txt'), MNEMONIC);
  await quietly('wallet', 'create', 'others', owner.descriptor, '--data', data);
  await quietly(
    'wallet',
    'send',
    'others',
    '--pay',
    `${owner.address(0, 901)}=50000`,
    '--fee-rate',
    '2',
    '--psbt',
    join(directory, 'others.psbt'),
    '--data',
    data,
  );
  return [
    [/wpkh\(xpub\.\.\.\/<0;1>\/\*\)/, owner.descriptor],
    [/\bADDRESS\b|\$PAYEE/, owner.address(0, 900)],
    [/^unspent/, `${PASSPHRASES} unspent`],
  ];
}

/** Of Cardano, with the addresses of keys, of which the first holds an asset. */
async function wallets({ directory }: PageShell): Promise<readonly Substitution[]> {
  const devnet = await devnetAt(join(directory, 'data'));
  writeFileSync(join(directory, 'protocol.json'), JSON.stringify(PARAMETERS));
  const held = [...devnet.chain.utxos.values()].flatMap(({ addressHex, assets }) => {
    const [unit] = [...assets].find(([, quantity]) => quantity >= 10n) ?? [];
    const address = fromHex(addressHex);
    return unit !== undefined && readAddress(address).payment?.kind === 'key' ? [{ unit, address: formatAddress(address) }] : [];
  });
  const [{ unit, address }] = held;
  const [second, third] = devnet.addresses().filter((each) => each.startsWith('addr_test1') && each !== address);
  return [
    [/\$FIRST\b/, address],
    [/\$SECOND\b/, second],
    [/\$(THIRD|PAYEE)\b/, third],
    [/\$STAKE\b/, devnet.stakeAddresses()[0]],
    [/\bTXID#INDEX\b/, keysOf(devnet, second)[0]],
    [/\bPOLICY\.NAME\b/, unit],
  ];
}

/** Electrum's first question to a server in the place of the program, which `test/server/bitcoin/electrum` runs. */
async function electrum({ directory }: PageShell): Promise<readonly Substitution[]> {
  const asks = `exec 3<>/dev/tcp/\${address%%:*}/\${port%%:*}
printf '%s\\n' '{"id":0,"method":"server.version","params":["page","1.4"]}' >&3
read -r answer <&3
case $answer in *'"result"'*) echo "$answer" ;; *) exit 1 ;; esac`;
  const script = `#!/bin/bash\nserver=\${@: -1}\naddress=$server\nport=\${server#*:}\n${asks}\n`;
  writeFileSync(join(directory, '.bin/electrum'), script, { mode: 0o755 });
  return [];
}
