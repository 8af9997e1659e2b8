/**
 * `relay`: serves the blocks of an ImmutableDB folder as a node does, over TCP
 * (N2N) and, with --socket, to local clients (N2C). For tests, and to feed
 * other programs from a copy of a node's database.
 */
import type { Command } from 'commander';
import { openImmutableChain, serveChain } from '../../chains/cardano/responder/index.ts';
import { needCardano } from '../../families/cardano.ts';
import { familyOfNetwork, openNetwork } from '../../families/networks.ts';
import { UnspentError } from '../../util/errors.ts';
import { type Context, longRunning } from '../context.ts';
import { wholeNumber } from '../devnet-flags.ts';
import { count } from '../format.ts';
import { aborted } from '../interrupt.ts';
import type { CommandOptions } from '../options.ts';

const SCHEME = 'immutable:';

interface RelayFlags extends CommandOptions {
  readonly port?: string;
  readonly host?: string;
  readonly socket?: string;
}

export function registerRelay(program: Command): void {
  program
    .command('relay')
    .description('serve the blocks of a folder as a node does')
    .requiredOption('--source <url>', 'which blocks: immutable:PATH')
    .option('--port <n>', 'TCP port for N2N; 0 takes a free one', '3001')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--socket <path>', 'socket file for N2C (none without it)')
    .addHelpText(
      'after',
      `
The folder is only read, and followed while it grows. It has no ledger: questions about outputs are not answered.

Examples:
  $ unspent relay --network preview --source immutable:/node/db/immutable
  $ unspent sync --network preview --source n2n://127.0.0.1:3001`,
    )
    .action(longRunning(relay));
}

async function relay(context: Context): Promise<void> {
  const { output, settings } = context;
  const flags: RelayFlags = context.options;
  const { network: name, genesis } = settings.config;
  const source = typeof flags.source === 'string' ? flags.source : '';
  if (!source.startsWith(SCHEME)) throw new UnspentError('USAGE', `relay serves ${SCHEME}PATH, not '${source.slice(0, 80)}'`);
  if (name === '') throw new UnspentError('NETWORK_NEEDED', 'relay must know whose blocks these are');
  const network = openNetwork(name, genesis === '' ? null : familyOfNetwork(name).readGenesis(genesis, name));
  const { parameters } = needCardano(network, 'relay');
  const port = wholeNumber(flags.port, '--port', 65_535);
  const chain = await openImmutableChain(source.slice(SCHEME.length), parameters);
  try {
    const responder = await serveChain(chain, {
      port,
      ...(flags.host === undefined ? {} : { host: flags.host }),
      ...(flags.socket === undefined ? {} : { socket: flags.socket }),
      onConnect: (peer) => context.log.info('chains', 'client came', `${peer} has come`, { peer }),
      onDisconnect: (peer, why) =>
        context.log.info('chains', 'client left', `${peer} has left${why === null ? '' : `: ${why.message}`}`, { peer }),
    });
    try {
      const { point, height } = chain.tip;
      const n2n = `n2n://${flags.host}:${responder.port}`;
      const n2c = flags.socket === undefined ? {} : { n2c: `n2c:${flags.socket}` };
      const tip = { height, slot: point?.slot ?? null, hash: point?.hash ?? null };
      if (output.json) output.document({ network: name, magic: parameters.magic, n2n, ...n2c, tip });
      else {
        const rows: [string, string][] = [
          ['network', `${name}, magic ${parameters.magic}`],
          ['N2N', n2n],
          ...(flags.socket === undefined ? [] : [['N2C', `n2c:${flags.socket}`] as [string, string]]),
          ['tip', point === null ? 'no block yet' : `height ${count(height)}, slot ${count(point.slot)}`],
        ];
        output.pairs(rows);
      }
      await aborted(context.stop);
    } finally {
      await responder.close();
    }
  } finally {
    await chain.close();
  }
  throw new UnspentError('INTERRUPTED', 'stopped serving');
}
