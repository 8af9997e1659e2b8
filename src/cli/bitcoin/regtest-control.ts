/**
 * What a running regtest chain can be told: mine, fork, pause, pay somebody,
 * take a transaction. The same words in `unspent devnet` and in `unspent start`.
 */

import type { RegtestDevnet } from '../../chains/bitcoin/regtest/index.ts';
import { formatAddress, formatId, parseAddress } from '../../ledgers/bitcoin/index.ts';
import { bareCoins } from '../../query/amounts.ts';
import { fromHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { type ControlCommand, countOperand } from '../control.ts';
import { count, counted } from '../format.ts';

const MINE_MAX = 100_000;

export function regtestCommands(devnet: RegtestDevnet): ControlCommand[] {
  return [
    {
      syntax: 'mine N',
      doc: 'make N blocks at once',
      run(text) {
        devnet.mine(countOperand(text, 'the number of blocks', MINE_MAX));
        return `mined; ${regtestTipText(devnet)}`;
      },
    },
    {
      syntax: 'fork N',
      doc: 'drop the last N blocks and mine N + 1 others at once, as when a longer chain wins',
      run(text) {
        const { undone, to } = devnet.fork(countOperand(text, 'the depth', Math.max(1, devnet.height)));
        return `${counted(undone, 'block')} dropped, back to height ${count(to.height)}; ${regtestTipText(devnet)}`;
      },
    },
    {
      syntax: 'pause',
      doc: 'no blocks by themselves',
      run() {
        devnet.pause();
        return `paused; ${regtestTipText(devnet)}`;
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
      syntax: 'fund ADDRESS SATS',
      doc: 'pay SATS satoshi to ADDRESS, in the next block',
      run(text, amount) {
        const script = parseAddress(devnet.network, text);
        const id = devnet.fund(script, parseSats(amount));
        return `${btc(BigInt(amount))} to ${formatAddress(devnet.network, script)} in transaction ${formatId(id)}, with the next block`;
      },
    },
    {
      syntax: 'send HEX',
      doc: 'hand in a transaction; it spends coins of P2WPKH, or coins that need no signature',
      run: (text) => `transaction ${formatId(devnet.submit(fromHex(text)))} waits for the next block`,
    },
  ];
}

export function regtestTipText({ tip }: RegtestDevnet): string {
  return `the tip is height ${count(tip.height)}, block ${formatId(tip.hash)}`;
}

export function btc(sats: bigint): string {
  return `${bareCoins(sats, { decimals: 8 })} BTC`;
}

function parseSats(text: string): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new UnspentError('USAGE', `an amount is a whole number of satoshi, not '${text.slice(0, 40)}'`);
}
