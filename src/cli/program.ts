/**
 * The command line: one program, one file per command. Parsing, failures and
 * exit codes are here; whatever a command does is in its own file.
 */
import { VERSION } from '../util/version.ts';
import { registerBackup } from './backup.ts';
import { registerBench } from './bench.ts';
import { registerCage } from './cardano/cage.ts';
import { registerRelay } from './cardano/relay.ts';
import { registerChangesCommand } from './changes.ts';
import { registerCompact } from './compact.ts';
import { registerCompletion } from './completion/completion.ts';
import { registerConfig } from './config.ts';
import { Program, type Surroundings } from './context.ts';
import { registerDevnet } from './devnet.ts';
import { registerDigest } from './digest.ts';
import { reportFailure } from './failure.ts';
import { AnsweredByHolder, withHolder } from './held/ask-holder.ts';
import { addGlobalOptions } from './options.ts';
import type { TextStream } from './output.ts';
import { registerProve } from './prove.ts';
import { registerPrune } from './prune.ts';
import { registerPublish } from './publish.ts';
import { registerQuery } from './query.ts';
import { registerRestore } from './restore.ts';
import { registerRollback } from './rollback.ts';
import { registerRoot } from './root.ts';
import { registerServe } from './serve.ts';
import { registerSnapshot } from './snapshot.ts';
import { registerStart } from './start.ts';
import { registerStatus } from './status.ts';
import { registerSync } from './sync.ts';
import { foldLines } from './terminal/fold-lines.ts';
import { registerTxs } from './txs.ts';
import { registerUpgrade } from './upgrade.ts';
import { registerVerify } from './verify.ts';
import { registerVerifyProof } from './verify-proof.ts';
import { registerWallet } from './wallet/wallet.ts';
import { registerWelcome } from './welcome.ts';

const AFTER_HELP = `
Every setting has a flag too (--utxo-prune-depth 100): \`unspent config show\` lists them.

Examples:
  $ unspent start                                          a devnet of its own, followed live, with a page to look at
  $ unspent sync --source devnet: --data ./devnet          a small chain, made on the spot
  $ unspent sync --network preview --source immutable:DIR  the chain of a node
  $ unspent status
  $ unspent query address addr_test1...
  $ unspent digest --json
  $ unspent prove address addr_test1... > proof.json

Exit codes: 0 done, 1 failed, 2 wrong command line, 3 wrong settings, 4 source unreachable, 5 data damaged, 130 interrupted, 143 ended by SIGTERM before it was done.`;

export function createProgram(surroundings: Surroundings): Program {
  const program = new Program(surroundings);
  const { stdout, stderr, style } = program.terminal;
  const fold = (stream: TextStream, text: string): string => (stream.isTTY === true ? foldLines(text, stream.columns || 0) : text);
  program
    .description('A UTXO state engine: exact, reversible unspent outputs of a chain, in an embedded database.')
    .version(VERSION, '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    // Failures are said once, in one place and in one form: failure.ts.
    .configureOutput({
      outputError: () => {},
      writeOut: (text) => stdout.write(fold(stdout, text)),
      writeErr: (text) => stderr.write(fold(stderr, text)),
      getOutHelpWidth: () => (stdout.isTTY === true ? stdout.columns || 80 : 80),
      getErrHelpWidth: () => (stderr.isTTY === true ? stderr.columns || 80 : 80),
      getOutHasColors: () => style.stdout.hasColours,
      getErrHasColors: () => style.stderr.hasColours,
    })
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (text) => style.stdout.bold(text),
      styleCommandText: (text) => style.stdout.cyan(text),
      styleSubcommandText: (text) => style.stdout.cyan(text),
      styleOptionText: (text) => style.stdout.cyan(text),
    })
    .addHelpText('after', AFTER_HELP);
  addGlobalOptions(program);
  const follow = [registerStart, registerSync, registerServe];
  const look = [
    registerStatus,
    registerQuery,
    registerDigest,
    registerRoot,
    registerProve,
    registerVerifyProof,
    registerCage,
    registerWallet,
    registerTxs,
  ];
  const operate = [
    registerRollback,
    registerPrune,
    registerCompact,
    registerVerify,
    registerBackup,
    registerRestore,
    registerUpgrade,
    registerSnapshot,
    registerPublish,
    registerChangesCommand,
    registerDevnet,
    registerRelay,
    registerBench,
    registerConfig,
    registerCompletion,
    registerWelcome,
  ];
  for (const register of [...follow, ...look, ...operate]) register(program);
  return program;
}

/** Returns the exit code. */
export async function runCommand(program: Program, args: readonly string[]): Promise<number> {
  program.commandLine = args;
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof AnsweredByHolder) return error.exitCode;
    return reportFailure(await withHolder(error, program.data), program.outputFor(args), program.failureOptions(args));
  }
}
