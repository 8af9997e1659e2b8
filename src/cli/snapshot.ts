/**
 * `snapshot export|verify|import`: the unspent set of a store as a folder of
 * files that are the same bytes from whichever store they come; and a new store
 * from such a folder, or from a node's own set, when all of it was found to be
 * right.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { openNetwork } from '../families/networks.ts';
import { parsePlace } from '../query/place.ts';
import { type ImportedSet, importNodeSet } from '../store/node-sets.ts';
import { type ExpectedHashes, exportSnapshot, importSnapshot, type SnapshotManifest, verifySnapshot } from '../store/snapshots.ts';
import { isHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { type Context, stoppable } from './context.ts';
import { bytes, coins, count, counted, duration, pointText, rate } from './format.ts';
import { onAbort } from './interrupt.ts';

export function registerSnapshot(program: Command): void {
  const snapshot = program
    .command('snapshot')
    .description('take the unspent set out of a store, check it, begin a store with it')
    .helpCommand(false);
  snapshot
    .command('export')
    .argument('<dir>', 'folder to write, which must be new or empty')
    .description('write the unspent set as canonical, sorted, hashed chunks with a manifest')
    .option('--at <place>', 'an earlier block: slot:N, height:N, a block hash, or a slot number')
    .addHelpText(
      'after',
      `
The same block gives the same bytes from every store, however it was synced and whatever else it keeps.
To begin a store that others will follow from, take a block that is settled: --at height:N, some blocks below the tip.

Examples:
  $ unspent snapshot export ./snapshot --data ./preview
  $ unspent snapshot export ./snapshot --data ./bitcoin --at height:840000 --json`,
    )
    .action(stoppable(exportCommand));
  expected(snapshot.command('verify').argument('<dir>', 'folder of a snapshot'))
    .description('check every byte of a snapshot, without a store')
    .addHelpText('after', '\nExit code 5 when something is wrong.\n\nExample:\n  $ unspent snapshot verify ./snapshot')
    .action(stoppable(verifyCommand));
  expected(snapshot.command('import').argument('<folder-or-file>', "folder of a snapshot, file of a node's dumptxoutset, or n2c:PATH"))
    .description('make a new store from a snapshot or from what a node has, and follow the chain from there')
    .option('--node <url>', 'of a dump: the node to ask for its block and its hash (rpc://...)')
    .option('--header <hex>', 'of a dump, where no node is asked: the header of its block')
    .option('--hash-serialized <hex>', 'of a dump: what dumptxoutset or gettxoutsetinfo said the set hashes to')
    .addHelpText(
      'after',
      `
Everything is checked before the store can be opened; what fails leaves nothing behind. A snapshot is as trustworthy as
the place its hash comes from: compare it with what another exporter says, or, of the Bitcoin family, with the muhash
of a node's \`gettxoutsetinfo\` at that block. The store cannot go back below the snapshot's block.

A node's own set needs no other store: the file that \`dumptxoutset\` wrote (Bitcoin family), or the node itself over its
local socket (Cardano). Nodes do not keep where in its block a transaction stood; see the page on it.

Examples:
  $ unspent snapshot import ./snapshot --data ./fresh
  $ unspent snapshot import ./snapshot --data ./fresh --set-hash 5f3c... --block 00ab...
  $ unspent snapshot import ./utxo.dump --network bitcoin --data ./fresh --node rpc://user:password@127.0.0.1:8332
  $ unspent snapshot import n2c:/ipc/node.socket --network mainnet --data ./fresh
  $ unspent sync --data ./fresh --source n2n://127.0.0.1:3001 --follow`,
    )
    .action(stoppable(importCommand));
}

function expected(command: Command): Command {
  return command
    .option('--id <hex>', 'the id it must have, which covers every byte of it')
    .option('--set-hash <hex>', 'the hash of the unspent set it must have')
    .option('--block <hex>', 'the hash of the block it must be of');
}

async function exportCommand(context: Context, folder: string): Promise<void> {
  const { at } = context.options;
  // A mistyped place is a usage error, whatever the store is like.
  if (at !== undefined) parsePlace(at);
  await context.askStore((store) =>
    run(context, 'export', (show) => {
      const point = at === undefined ? undefined : (store.locate(at) ?? undefined);
      if (at !== undefined && point === undefined)
        throw new UnspentError('USAGE', 'there is no snapshot of what is before the first block');
      return exportSnapshot(store, context.ownsStore ? folder : resolve(context.cwd, folder), {
        at: point,
        signal: context.stop,
        onRows: (rows) => show(rows, store.fold.head?.utxos ?? 0),
      });
    }),
  );
}

async function verifyCommand(context: Context, folder: string): Promise<void> {
  const { network } = context.settings.config;
  const hashes = hashesOf(context);
  await run(context, 'verify', (show) => verifySnapshot(folder, { network, ...hashes, signal: context.stop, onRows: show }));
}

async function importCommand(context: Context, from: string): Promise<void> {
  const { config } = context.settings;
  const hashes = hashesOf(context);
  const { node, header, hashSerialized } = context.options;
  if (isSnapshotFolder(from)) {
    if (node !== undefined || header !== undefined || hashSerialized !== undefined)
      throw new UnspentError('USAGE', `${from} is a snapshot: --node, --header and --hash-serialized are for a node's dump`);
    return run(context, 'import', (show) => importSnapshot(from, { config, ...hashes, signal: context.stop, onRows: show }));
  }
  if (hashes.id !== undefined) throw new UnspentError('USAGE', "--id is of a snapshot, and a node's own set has none");
  checkHash('--hash-serialized', hashSerialized);
  const { setHash, block } = hashes;
  const seconds = stopwatch();
  const given = { node, header, hashSerialized, setHash, block };
  const done = await withProgress(context, 'import', (show) =>
    importNodeSet(from, { config, ...given, signal: context.stop, onRows: show }),
  );
  reportNodeSet(context, done, seconds());
}

/** A folder; what is not there is looked for as one, as before there was anything else. */
function isSnapshotFolder(from: string): boolean {
  if (from.startsWith('n2c:')) return false;
  return statSync(from, { throwIfNoEntry: false })?.isDirectory() ?? true;
}

function stopwatch(): () => number {
  const started = performance.now();
  return () => (performance.now() - started) / 1000;
}

function hashesOf({ options: { id, setHash, block } }: Context): ExpectedHashes {
  for (const [flag, value] of [
    ['--id', id],
    ['--set-hash', setHash],
    ['--block', block],
  ] as const) {
    checkHash(flag, value);
  }
  return { id, setHash, block };
}

function checkHash(flag: string, value: string | undefined): void {
  if (value === undefined || isHex(value, 32)) return;
  throw new UnspentError('USAGE', `${flag} takes 64 hex digits, not '${value.slice(0, 80)}'`);
}

type Show = (rows: number, total: number) => void;

/** With progress, and the report when it is done. */
async function run(context: Context, what: 'export' | 'verify' | 'import', body: (show: Show) => Promise<SnapshotManifest>): Promise<void> {
  const seconds = stopwatch();
  report(context, what, await withProgress(context, what, body), seconds());
}

async function withProgress<T>(context: Context, what: string, body: (show: Show) => Promise<T>): Promise<T> {
  const line = context.progress();
  onAbort(context.stop, () => line.note('stopping at the next chunk; again to end at once'));
  const show: Show = (rows, total) =>
    line.update(() =>
      total === 0
        ? `${what}: ${count(rows)} outputs`
        : `${what}: ${count(rows)} of ${count(total)} outputs (${Math.floor((100 * rows) / Math.max(rows, total))}%)`,
    );
  try {
    return await body(show);
  } finally {
    line.done();
  }
}

const DONE = { export: 'written', verify: 'good', import: 'imported' } as const;

function report({ output, settings }: Context, what: keyof typeof DONE, manifest: SnapshotManifest, seconds: number): void {
  const { id, network, point, utxos, value, roots, chunks } = manifest;
  const size = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
  const { height, slot, hash } = point;
  if (output.json) {
    const at = { height, slot, hash };
    const facts = { id, network: network.name, point: at, utxos, value, ...roots, chunks: chunks.length, bytes: size, seconds };
    output.document(what === 'import' ? { ...facts, data: settings.config.data } : facts);
    return;
  }
  if (output.quiet) return;
  const { dialect } = openNetwork(network.name, null, network.parameters);
  const speed = seconds > 0 ? `, ${rate(utxos / seconds)} outputs/s` : '';
  output.pairs([
    [DONE[what], `${counted(utxos, 'output')} worth ${coins(BigInt(value), dialect.currency)} in ${duration(seconds)}${speed}`],
    ['at', pointText({ height, slot, hash: dialect.parseId(hash) }, dialect)],
    ['network', network.name],
    ['set hash', roots.setHash],
    ['digest', roots.digest],
    ['id', id],
    ['files', `${counted(chunks.length, 'chunk')}, ${bytes(size)}`],
  ]);
}

function reportNodeSet({ output, settings }: Context, done: ImportedSet, seconds: number): void {
  const { network, point, utxos, value, digest, setHash } = done;
  const { name, dialect } = network;
  if (output.json) {
    output.document({
      network: name,
      point,
      utxos,
      value,
      digest,
      ...(setHash === null ? {} : { setHash }),
      seconds,
      data: settings.config.data,
    });
    return;
  }
  if (output.quiet) return;
  const speed = seconds > 0 ? `, ${rate(utxos / seconds)} outputs/s` : '';
  output.pairs([
    ['imported', `${counted(utxos, 'output')} worth ${coins(BigInt(value), dialect.currency)} in ${duration(seconds)}${speed}`],
    ['at', pointText({ ...point, hash: dialect.parseId(point.hash) }, dialect)],
    ['network', name],
    ...(setHash === null ? [] : [['set hash', setHash] as [string, string]]),
    ['digest', digest],
  ]);
}
