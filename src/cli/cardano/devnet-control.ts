/**
 * What a running devnet can be told: mine, roll back, fork, pause, fund. The
 * same words in `unspent devnet` and in `unspent start`.
 */

import type { LiveDevnet, Turn } from '../../chains/cardano/devnet/live.ts';
import { formatAddress, parseAddress } from '../../ledgers/cardano/index.ts';
import { toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { type ControlCommand, countOperand } from '../control.ts';
import { ada, count, counted } from '../format.ts';

const MINE_MAX = 100_000;
const LOVELACE_PER_ADA = 1_000_000;

export function devnetCommands(devnet: LiveDevnet): ControlCommand[] {
  const turned = ({ undone, to }: Turn): string =>
    `${counted(undone, 'block')} dropped, back to ${to === null ? 'the origin' : `slot ${count(to.slot)}`}; ${tipText(devnet)}`;
  const deep = (text: string): number => countOperand(text, 'the depth', Math.max(1, devnet.blocks.length));
  return [
    {
      syntax: 'mine N',
      doc: 'make N blocks at once',
      run(text) {
        devnet.mine(countOperand(text, 'the number of blocks', MINE_MAX));
        return `mined; ${tipText(devnet)}`;
      },
    },
    { syntax: 'rollback N', doc: 'drop the last N blocks; those mined next differ', run: (text) => turned(devnet.rollback(deep(text))) },
    {
      syntax: 'fork N',
      doc: 'drop the last N blocks and mine N + 1 others at once, as when a longer chain wins',
      run: (text) => turned(devnet.fork(deep(text))),
    },
    {
      syntax: 'pause',
      doc: 'no blocks by themselves',
      run() {
        devnet.pause();
        return `paused; ${tipText(devnet)}`;
      },
    },
    {
      syntax: 'resume',
      doc: 'blocks by themselves again',
      run() {
        devnet.resume();
        return devnet.isPaused ? 'there is no interval to go on with; blocks come by `mine N`' : 'blocks come by themselves again';
      },
    },
    {
      syntax: 'fund ADDRESS AMOUNT',
      doc: 'pay AMOUNT ada (or N lovelace, as Nlovelace) to ADDRESS, in the next block',
      run(text, amount) {
        const address = parseAddress(text);
        const lovelace = parseAmount(amount);
        const id = devnet.fund(address, lovelace);
        return `${ada(lovelace)} ada to ${formatAddress(address)} in transaction ${toHex(id)}, with the next block`;
      },
    },
  ];
}

export function tipText({ tip }: LiveDevnet): string {
  if (tip.point === null) return 'no block yet';
  return `the tip is height ${count(tip.height)}, slot ${count(tip.point.slot)}, block ${toHex(tip.point.hash)}`;
}

/** `5`, `1.25` (ada) or `1500000lovelace`. */
function parseAmount(text: string): bigint {
  const [, lovelace] = /^(\d{1,17})lovelace$/.exec(text) ?? [];
  if (lovelace !== undefined) return BigInt(lovelace);
  const [, whole, part = ''] = /^(\d{1,11})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined)
    throw new UnspentError('USAGE', `an amount is ada (12.5) or lovelace (12500000lovelace), not '${text.slice(0, 40)}'`);
  return BigInt(whole) * BigInt(LOVELACE_PER_ADA) + BigInt(part.padEnd(6, '0'));
}
