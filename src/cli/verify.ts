/**
 * `verify`: recomputes totals and indexes from the unspent set and compares,
 * walks the chain's links, and lists the first faults it finds.
 */
import type { Command } from 'commander';
import type { Dialect } from '../query/dialect.ts';
import { renderPoint } from '../query/render.ts';
import type { Head } from '../state/head.ts';
import { comparePages } from '../store/verify/files.ts';
import type { Verification } from '../store/verify/verify.ts';
import { UnspentError } from '../util/errors.ts';
import { compareWithNode, type NodeComparison } from './bitcoin/verify-node.ts';
import { action } from './context.ts';
import { coins, count, counted, duration, pointText, table } from './format.ts';
import type { Output } from './output.ts';

export function registerVerify(program: Command): void {
  program
    .command('verify')
    .description('check the store against itself: chain, totals, indexes')
    .option('--node <url>', 'Bitcoin family: compare with a node at the same block, rpc:// or rpcs://USER:PASSWORD@HOST:PORT')
    .addHelpText('after', '\nChanges nothing. Exit code 5 when something is wrong.')
    .action(
      action(({ options, output, progress, askStore }) =>
        askStore(async (store) => {
          const line = progress();
          const started = performance.now();
          const areFilesCompared = await comparePages(store.engine, (left) => line.update(() => `verify: ${count(left)} pages to compare`));
          const found = store.verify((what, rows) => line.update(() => `verify: ${count(rows)} ${what}`));
          line.done();
          const seconds = (performance.now() - started) / 1000;
          const { head } = store.fold;
          const files = areFilesCompared ? { filesCompared: true } : {};
          const report = { point: renderPoint(head, store.network.dialect), ...found, ...files, value: found.value.toString(), seconds };
          if (found.faultCount > 0) {
            if (!output.json) listFaults(output, found);
            const [first] = found.faults;
            throw new UnspentError(
              'VERIFY_FAILED',
              `${counted(found.faultCount, 'fault')} found in ${store.data}, the first: ${first.column} ${first.key} ${first.what}`,
              report,
            );
          }
          const node = options.node === undefined ? null : await compareWithNode(store, options.node);
          if (output.json) output.document(node === null ? report : { ...report, node });
          else
            output.pairs([
              ...(areFilesCompared ? [FILES_COMPARED] : []),
              ...checked(found, seconds, head, store.network.dialect),
              ...(node === null ? [] : comparedRows(node)),
            ]);
        }),
      ),
    );
}

const FILES_COMPARED: [string, string] = ['files', 'every page of the database as its checksum says'];

function checked(found: Verification, seconds: number, head: Head | null, dialect: Dialect): [string, string][] {
  return [
    ['chain', `${counted(found.blocks, 'block')}, each linked to the one before it`],
    ['unspent', `${counted(found.utxos, 'output')} worth ${coins(found.value, dialect.currency)}, as the totals say`],
    ...Object.entries(found.indexRows).map(([column, rows]): [string, string] => [
      column,
      `${counted(rows, 'row')}, as the unspent set asks for`,
    ]),
    ['result', `no fault found in ${duration(seconds)}`],
    ['at', pointText(head, dialect)],
  ];
}

function comparedRows({ node, equal }: NodeComparison): [string, string][] {
  return [
    ['node', `${node} is at the same block and says the same`],
    ...Object.entries(equal).map(([name, value]): [string, string] => [name, `${value}`]),
  ];
}

function listFaults(output: Output, { faults, faultCount }: Verification): void {
  output.line(
    table(
      ['COLUMN', 'KEY', 'FAULT'],
      faults.map(({ column, key, what }) => [column, key, what]),
    ),
  );
  if (faultCount > faults.length) output.line(`and ${count(faultCount - faults.length)} more`);
}
