/**
 * `devnet --network bitcoin-regtest`: the same for the other family. A Bitcoin
 * chain of one's own, served over P2P as a node serves it, and steered by lines
 * on standard input.
 */

import { GUEST_SCRIPT, RegtestDevnet } from '../../chains/bitcoin/regtest/index.ts';
import { type P2pServer, serveP2p } from '../../chains/bitcoin/responder/index.ts';
import { formatAddress, formatId } from '../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../util/errors.ts';
import type { Context } from '../context.ts';
import { type ControlCommand, readControl } from '../control.ts';
import { type DevnetFlags, milliseconds, wholeNumber } from '../devnet-flags.ts';
import { counted, pairs } from '../format.ts';
import { aborted } from '../interrupt.ts';
import { regtestCommands, regtestTipText } from './regtest-control.ts';

const FORK_DEPTH = 10;

export async function serveRegtest(context: Context): Promise<void> {
  const { output } = context;
  const flags: DevnetFlags = context.options;
  const say = (text: string): void => output.answer(text);
  if (flags.socket !== undefined) throw new UnspentError('USAGE', 'nodes of the Bitcoin family have no socket file for local clients');
  const intervalMs = milliseconds(flags.interval);
  const [port, blocks] = [wholeNumber(flags.port, '--port', 65_535), wholeNumber(flags.blocks, '--blocks', 1_000_000)];
  const chain = openChain(flags);
  chain.mine(Math.max(0, blocks - chain.height));
  const responder = await serveP2p(chain, { port, ...(flags.host === undefined ? {} : { host: flags.host }) });
  chain.setInterval(intervalMs);
  const control = readControl([...regtestCommands(chain), statusCommand(chain, responder)], say);
  try {
    const url = `p2p://${flags.host}:${responder.port}`;
    if (output.json) output.document({ p2p: url, tip: { height: chain.height, hash: formatId(chain.tip.hash) } });
    else say(introduction(chain, url, intervalMs));
    await Promise.race([control.quit, aborted(context.stop)]);
  } finally {
    control.stop();
    chain.pause();
    await responder.close();
    await chain.close();
  }
  if (context.stop.aborted) throw new UnspentError('INTERRUPTED', `stopped; ${regtestTipText(chain)}`);
}

function openChain({ seed, forks, journal }: DevnetFlags): RegtestDevnet {
  const everyBlocks = wholeNumber(forks, '--forks', 1_000_000);
  return new RegtestDevnet({
    seed: wholeNumber(seed, '--seed', Number.MAX_SAFE_INTEGER),
    ...(everyBlocks > 0 ? { forks: { everyBlocks, depthMax: FORK_DEPTH } } : {}),
    ...(journal === undefined ? {} : { journal }),
  });
}

function introduction({ network }: RegtestDevnet, url: string, intervalMs: number): string {
  const clock = intervalMs > 0 ? `a block every ${intervalMs / 1000} s` : 'blocks only by `mine N`';
  return pairs([
    ['regtest', `${clock}; coins can be spent from block ${network.coinbaseMaturity + 1} on`],
    ['P2P', url],
    ['guest', `${formatAddress(network, GUEST_SCRIPT)} is paid now and then`],
    ['follow', `unspent sync --follow --network ${network.name} --source ${url} --data ./follower`],
    ['control', 'type help'],
  ]);
}

function statusCommand(chain: RegtestDevnet, responder: P2pServer): ControlCommand {
  return {
    syntax: 'status',
    doc: 'tip, unspent outputs, mempool and clients',
    run: () =>
      [
        `${chain.isPaused ? 'paused' : 'running'}; ${regtestTipText(chain)}`,
        `${counted(chain.utxos.size, 'unspent output')}, digest ${chain.digest()}`,
        `${counted(chain.mempool().length, 'transaction')} waiting, ${counted(responder.clients, 'client')}`,
      ].join('\n'),
  };
}
