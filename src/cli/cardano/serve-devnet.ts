/**
 * `devnet`: a Cardano chain of one's own, served as a node serves it: over TCP
 * (N2N) and, with --socket, to local clients (N2C). Steered by lines on standard
 * input, so that a test can fork it exactly when it wants.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LiveDevnet, type LiveOptions } from '../../chains/cardano/devnet/live.ts';
import { keyFiles, makeWallet, type Wallet } from '../../chains/cardano/devnet/wallet.ts';
import { type Responder, serveChain } from '../../chains/cardano/responder/index.ts';
import { formatAddress } from '../../ledgers/cardano/index.ts';
import { UnspentError } from '../../util/errors.ts';
import type { Context } from '../context.ts';
import { type ControlCommand, readControl } from '../control.ts';
import { type DevnetFlags, milliseconds, usage, wholeNumber } from '../devnet-flags.ts';
import { ada, count, counted, pairs } from '../format.ts';
import { aborted } from '../interrupt.ts';
import { devnetCommands, tipText } from './devnet-control.ts';

const FUNDED = 1_000_000_000_000n;
const FORK_DEPTH = 10;

export async function serveDevnet(context: Context): Promise<void> {
  const flags: DevnetFlags = context.options;
  const { output } = context;
  const say = (text: string): void => output.answer(text);
  const options = liveOptions(flags);
  const chain = new LiveDevnet({ ...options, intervalMs: 0 });
  const wallet = makeWallet(options.seed);
  if (chain.blocks.length === 0) chain.fund(wallet.address, FUNDED);
  const missing = wholeNumber(flags.blocks, '--blocks', 1_000_000) - chain.blocks.length;
  if (missing > 0) chain.mine(missing);
  const folder = flags.genesisOut ?? '';
  writeGenesis(folder, chain, wallet);
  const port = wholeNumber(flags.port, '--port', 65_535);
  const responder = await serveChain(chain, {
    port,
    ...(flags.host === undefined ? {} : { host: flags.host }),
    ...(flags.socket === undefined ? {} : { socket: flags.socket }),
    onConnect: (peer) => context.log.info('chains', 'client came', `${peer} has come`, { peer }),
    onDisconnect: (peer, why) =>
      context.log.info('chains', 'client left', `${peer} has left${why === null ? '' : `: ${why.message}`}`, { peer }),
  });
  chain.setInterval(options.intervalMs ?? 0);
  const control = readControl([...devnetCommands(chain), statusCommand(chain, responder)], say);
  try {
    if (output.json) output.document(introduction(chain, responder, flags, wallet));
    else say(introductionText(chain, responder, flags, wallet));
    await Promise.race([control.quit, aborted(context.stop)]);
  } finally {
    control.stop();
    await chain.close();
    await responder.close();
  }
  if (context.stop.aborted) throw new UnspentError('INTERRUPTED', `stopped; ${tipText(chain)}`);
}

function liveOptions(flags: DevnetFlags): LiveOptions {
  const intervalMs = milliseconds(flags.interval);
  const forks = wholeNumber(flags.forks, '--forks', 1_000_000);
  const k = wholeNumber(flags.k, '--k', 1_000_000);
  if (k === 0) throw usage('--k', flags.k, 'a whole number from 1 on');
  const txPerBlock = wholeNumber(flags.transactions, '--transactions', 1000);
  return {
    seed: wholeNumber(flags.seed, '--seed', Number.MAX_SAFE_INTEGER),
    byronEpochSlots: 10 * k,
    txPerBlock,
    intervalMs,
    ...(hasCages(flags) ? { cages: true } : {}),
    // Where no transactions are wanted, those of scripts are not, either.
    ...(flags.transactions === '0' ? {} : { scripts: true }),
    ...(forks > 0 ? { forks: { everyBlocks: forks, depthMax: Math.min(k, FORK_DEPTH) } } : {}),
    ...(flags.journal === undefined ? {} : { journal: flags.journal }),
  };
}

/** Where no transactions are wanted, those of cages are not, either. */
function hasCages(flags: DevnetFlags): boolean {
  return flags.cages !== false && flags.transactions !== '0';
}

/** Genesis files under the names nodes give them, and the keys of the funded address. */
function writeGenesis(folder: string, { genesis }: LiveDevnet, wallet: Wallet): void {
  const { skey, vkey } = keyFiles(wallet);
  const files = {
    'byron-genesis.json': genesis.byron,
    'shelley-genesis.json': genesis.shelley,
    'payment.skey': skey,
    'payment.vkey': vkey,
    'payment.addr': `${formatAddress(wallet.address)}\n`,
  };
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  } catch (cause) {
    throw new UnspentError('IO', `the genesis files cannot be written to ${folder}: ${(cause as Error).message}`, { folder }, cause);
  }
}

function introduction({ network, tip }: LiveDevnet, { port }: Responder, flags: DevnetFlags, wallet: Wallet): object {
  return {
    magic: network.magic,
    k: network.k,
    n2n: `n2n://${flags.host}:${port}`,
    ...(flags.socket === undefined ? {} : { n2c: `n2c:${flags.socket}` }),
    genesis: flags.genesisOut,
    address: formatAddress(wallet.address),
    tip: { height: tip.height, slot: tip.point?.slot ?? null, hash: tip.point?.hash ?? null },
  };
}

function introductionText(chain: LiveDevnet, { port }: Responder, flags: DevnetFlags, wallet: Wallet): string {
  const url = `n2n://${flags.host}:${port}`;
  const clock = Number(flags.interval) > 0 ? `a block every ${flags.interval} s` : 'blocks only by `mine N`';
  const rows: [string, string][] = [
    ['devnet', `magic ${chain.network.magic}, k ${count(chain.network.k)}, ${clock}`],
    ['N2N', url],
    ...(flags.socket === undefined ? [] : [['N2C', `n2c:${flags.socket}`] as [string, string]]),
    ['genesis', `${flags.genesisOut} (byron-genesis.json, shelley-genesis.json)`],
    ['funded', `${formatAddress(wallet.address)} with ${ada(FUNDED)} ada; its keys are beside the genesis files`],
    ['follow', `unspent sync --follow --network devnet --genesis ${flags.genesisOut} --source ${url} --data ./follower`],
    ...(hasCages(flags) ? [['', 'and for its cages: --cage-enabled true --cage-deployments devnet'] as [string, string]] : []),
    ['control', 'type help'],
  ];
  return pairs(rows);
}

function statusCommand(chain: LiveDevnet, responder: Responder): ControlCommand {
  return {
    syntax: 'status',
    doc: 'tip, unspent outputs, mempool and clients',
    run() {
      const { txs } = chain.sizes();
      const running = chain.isPaused ? 'paused' : 'running';
      return [
        `${running}; ${tipText(chain)}`,
        `${counted(chain.utxos.size, 'unspent output')}, digest ${chain.digest()}`,
        `${counted(txs, 'transaction')} waiting, ${counted(responder.clients, 'client')}`,
      ].join('\n');
    },
  };
}
