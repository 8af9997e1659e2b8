/**
 * `devnet`: a chain of one's own, served as a node serves it, and steered by
 * lines on standard input. Which chains can be made is in `local-chains.ts`.
 */
import type { Command } from 'commander';
import { type Context, longRunning } from './context.ts';
import { localChain, USUAL_CHAIN } from './local-chains.ts';

export function registerDevnet(program: Command): void {
  program
    .command('devnet')
    .description('make a chain of your own and serve it as a node does')
    .option('--port <n>', 'TCP port for N2N; 0 takes a free one', '3001')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--socket <path>', 'socket file for N2C (none without it)')
    .option('--interval <seconds>', 'between blocks; 0: only when told to mine', '2')
    .option('--seed <n>', 'the same seed makes the same chain', '1')
    .option('--k <n>', 'security parameter: blocks after which a fork is too deep', '2160')
    .option('--blocks <n>', 'blocks made before the first client is let in', '1')
    .option('--transactions <n>', 'mean number of made-up transactions in a block', '2')
    .option('--no-cages', 'no transactions of cages (tokens, requests, facts) among them')
    .option('--forks <n>', 'a fork of its own about every n blocks; 0: never', '0')
    .option('--genesis-out <dir>', 'where the genesis files are written', './devnet-genesis')
    .option('--journal <file>', 'remember the chain in this file and go on with it next time')
    .addHelpText(
      'after',
      `
Reads commands from standard input, one a line; type help. Scripts of transactions that are submitted are not run.
An address of a key is funded in the first block. Its keys are beside the genesis files (payment.skey, payment.vkey, payment.addr),
in the form that cardano-cli and wallets load. They follow from the seed, so everybody has them: never use them on another network.
With --network bitcoin-regtest: a Bitcoin chain over P2P; --socket, --k, --transactions, --no-cages and --genesis-out are of Cardano.

Examples:
  $ unspent devnet --interval 1 --socket ./devnet.socket
  $ printf 'mine 10\\nfork 3\\nstatus\\nquit\\n' | unspent devnet --interval 0 --port 0
  $ unspent sync --follow --network devnet --genesis ./devnet-genesis --source n2n://127.0.0.1:3001
  $ unspent devnet --network bitcoin-regtest --port 18444 --blocks 110`,
    )
    .action(longRunning(devnet));
}

function devnet(context: Context): Promise<void> {
  return (localChain(context.settings.config.network) ?? USUAL_CHAIN).serve(context);
}
