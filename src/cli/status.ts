/**
 * `status`: where the store is, how far it can go back, what it holds.
 */
import type { Command } from 'commander';
import { eraName, slotToEpoch, slotToTime } from '../ledgers/cardano/index.ts';
import { renderPoint } from '../query/render.ts';
import type { Store, StoreStatus } from '../store.ts';
import { toHex } from '../util/bytes.ts';
import { action } from './context.ts';
import { fillText } from './fill-text.ts';
import { ada, bytes, count, pairs, utcTime } from './format.ts';

export function registerStatus(program: Command): void {
  program
    .command('status')
    .description('tip, horizon, totals and size of the store')
    .action(
      action(({ output, withStore }) =>
        withStore((store) => {
          const status = store.status();
          if (output.json) output.document(statusJson(store, status));
          else output.line(pairs(statusRows(store, status)));
        }),
      ),
    );
}

function statusJson(store: Store, { head, horizon, pruned, engine, ...rest }: StoreStatus): object {
  const { parameters } = store.network;
  return {
    ...rest,
    tip:
      head === null
        ? null
        : {
            ...renderPoint(head),
            epoch: slotToEpoch(parameters, head.slot),
            time: new Date(1000 * slotToTime(parameters, head.slot)).toISOString(),
            era: eraName(head.era),
          },
    // Null: back to the origin.
    horizon: renderPoint(horizon),
    utxos: head?.utxos ?? 0,
    value: (head?.value ?? 0n).toString(),
    missingInputs: head?.missing ?? 0,
    // Heights up to which they are gone; -1: none.
    pruned: { spentOutputs: pruned.spent, deltas: pruned.deltas },
    engine: { kind: engine.kind, bytes: engine.bytes, properties: engine.properties },
  };
}

function statusRows(store: Store, { head, horizon, pruned, engine, ...status }: StoreStatus): [string, string][] {
  const { parameters } = store.network;
  const rows: [string, string][] = [
    ['data', status.data],
    ['network', status.partial ? `${status.network} (began in the middle of the chain)` : status.network],
  ];
  if (head === null) rows.push(['tip', 'no block yet']);
  else {
    rows.push(
      [
        'tip',
        `height ${count(head.height)}, slot ${count(head.slot)}, epoch ${count(slotToEpoch(parameters, head.slot))} (${eraName(head.era)})`,
      ],
      ['block', toHex(head.hash)],
      ['time', utcTime(slotToTime(parameters, head.slot))],
    );
  }
  rows.push(
    ['horizon', horizon === null ? 'the origin' : `height ${count(horizon.height)}, slot ${count(horizon.slot)}`],
    ['unspent', `${count(head?.utxos ?? 0)} outputs worth ${ada(head?.value ?? 0n)} ada`],
  );
  if ((head?.missing ?? 0) > 0) rows.push(['missing', `${count(head!.missing)} inputs from before the first block`]);
  rows.push(
    ['pruned', `spent outputs ${upTo(pruned.spent)}, undo records ${upTo(pruned.deltas)}`],
    ['projections', status.projections.join(', ')],
    ...(status.fills.length === 0 ? [] : [['filling', fillText(status.fills)] as [string, string]]),
    ['on disk', `${bytes(engine.bytes)} (${engine.kind})`],
  );
  return rows;
}

function upTo(height: number): string {
  return height < 0 ? 'none' : `up to height ${count(height)}`;
}
