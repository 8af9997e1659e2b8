/**
 * `verify`: recomputes totals and indexes from the unspent set and compares,
 * walks the chain's links, and lists the first faults it finds.
 */
import type { Command } from 'commander';
import { renderPoint } from '../query/render.ts';
import type { Verification } from '../query/verify.ts';
import { UnspentError } from '../util/errors.ts';
import { action } from './context.ts';
import { ada, count, counted, duration, pairs, pointText, table } from './format.ts';
import type { Output } from './output.ts';

export function registerVerify(program: Command): void {
  program
    .command('verify')
    .description('check the store against itself: chain, totals, indexes')
    .addHelpText('after', '\nChanges nothing. Exit code 5 when something is wrong.')
    .action(
      action(({ output, progress, withStore }) =>
        withStore((store) => {
          const line = progress();
          const started = performance.now();
          const found = store.verify((what, rows) => line.update(() => `verify: ${count(rows)} ${what}`));
          line.done();
          const seconds = (performance.now() - started) / 1000;
          const { head } = store.fold;
          const report = { point: renderPoint(head), ...found, value: found.value.toString(), seconds };
          if (found.faultCount > 0) {
            if (!output.json) listFaults(output, found);
            const [first] = found.faults;
            throw new UnspentError(
              'VERIFY_FAILED',
              `${counted(found.faultCount, 'fault')} found in ${store.data}, the first: ${first.column} ${first.key} ${first.what}`,
              report,
            );
          }
          if (output.json) output.document(report);
          else output.line(pairs(checked(found, seconds, pointText(head))));
        }),
      ),
    );
}

function checked(found: Verification, seconds: number, at: string): [string, string][] {
  return [
    ['chain', `${counted(found.blocks, 'block')}, each linked to the one before it`],
    ['unspent', `${counted(found.utxos, 'output')} worth ${ada(found.value)} ada, as the totals say`],
    ...Object.entries(found.indexRows).map(([column, rows]): [string, string] => [
      column,
      `${counted(rows, 'row')}, as the unspent set asks for`,
    ]),
    ['result', `no fault found in ${duration(seconds)}`],
    ['at', at],
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
