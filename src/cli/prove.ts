/**
 * `prove outpoint|address|absent`: a proof document of what the store says,
 * for those who trust a root and not the store. `verify-proof` checks it.
 */
import { type Command, Option } from 'commander';
import { parseOutpoint } from '../ledgers/outpoint.ts';
import { documentToJson, type ProofDocument } from '../proofs/index.ts';
import { Prover } from '../query/proofs.ts';
import { action, type Context } from './context.ts';
import { type QueryRead, withQuery } from './query-read.ts';

export function registerProve(program: Command): void {
  const prove = program
    .command('prove')
    .description('prove an answer: this output is unspent; these are all of an address; this address has no such output')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
The document goes to standard output, with or without --json. It names the root it is for: whoever gets it checks it with
\`unspent verify-proof\`, against a root of their own.

Examples:
  $ unspent prove outpoint 4843cf2e582b2f9ce37600e5ab4cc678991f988f8780fed05407f9537f7712bd#0 > proof.json
  $ unspent prove address addr_test1qz... --at height:1500 > proof.json
  $ unspent prove absent addr_test1qz... 4843cf2e582b2f9ce37600e5ab4cc678991f988f8780fed05407f9537f7712bd#0
  $ unspent verify-proof proof.json --root 3f0c...`,
    );
  inTime(prove.command('outpoint').description('this output is unspent; from a mountain range also: it is spent'))
    .argument('<txid#index>', 'transaction id in hex, and the number of the output')
    .addOption(new Option('--tree <tree>', 'which root it is for, where the store keeps both').choices(['csmt', 'mmr']))
    .action(action(proveOutpoint));
  inTime(prove.command('address').description('these are all unspent outputs of an address (proofs.csmt)'))
    .argument('<address>', 'in any form; of the Bitcoin family also the hash of a script')
    .action(action((context, address) => proveWith(context, (prover, { dialect }) => prover.address(dialect.owner(address)))));
  inTime(prove.command('absent').description('this address has no such unspent output (proofs.csmt)'))
    .argument('<address>', 'in any form; of the Bitcoin family also the hash of a script')
    .argument('<txid#index>', 'the output it does not have')
    .action(action(proveAbsent));
}

function inTime(command: Command): Command {
  return command.option('--at <place>', 'as it was then: slot:N, height:N, a block hash, or a slot number');
}

function proveOutpoint(context: Context, text: string): Promise<void> {
  parseOutpoint(text);
  return proveWith(context, (prover, { dialect }) => {
    const { txId, index } = parseOutpoint(text, dialect.parseId);
    return prover.outpoint(txId, index, context.options.tree);
  });
}

function proveAbsent(context: Context, address: string, text: string): Promise<void> {
  parseOutpoint(text);
  return proveWith(context, (prover, { dialect }) => {
    const { txId, index } = parseOutpoint(text, dialect.parseId);
    return prover.absent(dialect.owner(address), txId, index);
  });
}

function proveWith(context: Context, body: (prover: Prover, looked: QueryRead) => ProofDocument): Promise<void> {
  return withQuery(context, (looked) => {
    const { query, view, network, projections } = looked;
    const document = body(new Prover(query, view, { network, projections }), looked);
    context.output.document(documentToJson(document));
  });
}
