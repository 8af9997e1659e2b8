/**
 * `unspent` without a command: what is in this directory, and what to do next.
 * It looks at the store as `status` does, and changes nothing.
 */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { readAnyIdentity, SCHEMA_VERSION } from '../engine/directory.ts';
import { familyOfNetwork } from '../families/networks.ts';
import { type PointJson, renderPoint } from '../query/render.ts';
import { findHolder } from '../store/control/ask.ts';
import type { Greeting } from '../store/control/protocol.ts';
import type { StoreIdentity } from '../store/identity.ts';
import { type ErrorCode, isUnspentError, UnspentError } from '../util/errors.ts';
import { didYouMean } from '../util/suggest.ts';
import { VERSION } from '../util/version.ts';
import { walletDatabaseFile, walletDatabaseUrl } from '../wallet/database-url.ts';
import { action, type Context } from './context.ts';
import { pointText } from './format.ts';
import { localChain } from './local-chains.ts';

/** What there is where a store would be. */
interface Found {
  readonly state: 'none' | 'closed' | 'open' | 'unfinished' | 'outdated' | 'unreadable';
  readonly network: string | null;
  readonly point: PointJson | null;
  /** In words. */
  readonly text: string;
  /** Who has it open. */
  readonly holder: Pick<Greeting, 'process' | 'holder' | 'since' | 'url'> | null;
  /** Where it is what its state does not say: which work was not finished, and why it cannot be read. */
  readonly detail: Unfinished | ErrorCode | null;
}

type Unfinished = 'import' | 'restore' | 'upgrade';

const UNFINISHED: Readonly<Record<Unfinished, string>> = {
  import: 'a snapshot was being imported into it, and is not finished',
  restore: 'a backup was being restored into it, and is not finished',
  upgrade: 'it was being upgraded, and is not finished',
};

type Step = readonly [command: string, doc: string];

const NAME = 'welcome';

export function registerWelcome(program: Command): void {
  program
    .command(NAME, { isDefault: true, hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(
      action(async (context, words) => {
        checkWords(program, words as unknown as readonly string[]);
        const found = await look(context);
        const steps = stepsFor(found, context);
        if (context.output.json) report(context, found, steps);
        else show(context, found, steps);
      }),
    );
}

/** What is left over of a command line without a command is a command that there is not. */
function checkWords(program: Command, [word]: readonly string[]): void {
  if (word === undefined) return;
  if (word.startsWith('-')) {
    const flags = program.options.flatMap(({ long }) => (long == null ? [] : [long]));
    throw new UnspentError('USAGE', `unknown option '${word.slice(0, 80)}'${didYouMean(word.replace(/=.*/, ''), flags)}`);
  }
  const names = program.commands.map((command) => command.name()).filter((name) => name !== NAME);
  throw new UnspentError('USAGE', `unknown command '${word.slice(0, 80)}'${didYouMean(word, names)}`);
}

async function look(context: Context): Promise<Found> {
  const { data } = context.settings.config;
  const nothing = { point: null, holder: null, detail: null };
  try {
    const identity = readAnyIdentity(data) as StoreIdentity | null;
    if (identity === null) return { ...nothing, state: 'none', network: null, text: `no store in ${data} yet` };
    const { network, schema } = identity;
    const detail = unfinished(identity);
    if (detail !== null) return { ...nothing, state: 'unfinished', network, detail, text: `${data}: ${UNFINISHED[detail]}` };
    if (schema !== SCHEMA_VERSION) {
      const text = `${data}, a store of ${network} in format ${schema}; this version reads ${SCHEMA_VERSION}`;
      return { ...nothing, state: 'outdated', network, text };
    }
    const holder = await findHolder(data);
    if (holder !== null) {
      holder.close();
      return {
        ...nothing,
        state: 'open',
        network,
        text: `${data}, a store of ${network}: ${holder.description}`,
        holder: holder.greeting,
      };
    }
    return await context.withStore(
      ({ fold: { head }, network: { dialect } }) => ({
        ...nothing,
        state: 'closed',
        network,
        point: renderPoint(head, dialect),
        text: `${data}, a store of ${network}, at ${head === null ? 'no block yet' : pointText(head, dialect)}`,
      }),
      { control: false },
    );
  } catch (error) {
    if (!isUnspentError(error)) throw error;
    return { ...nothing, state: 'unreadable', network: null, detail: error.code, text: `${error.message}. ${error.advice}` };
  }
}

function unfinished({ importing, upgrading }: StoreIdentity): Unfinished | null {
  if (upgrading !== undefined) return 'upgrade';
  if (importing === undefined) return null;
  return importing === 'backup' ? 'restore' : 'import';
}

function stepsFor({ state, network, holder, detail }: Found, { settings }: Context): readonly Step[] {
  const { config, origins } = settings;
  const data = origins.data.from === 'default' ? '' : ` --data ${config.data}`;
  const look: Step = [`unspent status --watch${data}`, 'what it does, live'];
  switch (state) {
    case 'none':
      return [
        [`unspent start${data}`, 'a devnet of its own, followed and served, with a page to look at'],
        [`unspent start --network bitcoin-regtest${data}`, 'the same with a chain of the Bitcoin family'],
        [`unspent sync --network preview --source immutable:DIR${data}`, 'the chain of a Cardano node'],
        [`unspent sync --network bitcoin --source blk:DIR${data}`, 'the chain of a Bitcoin node'],
      ];
    case 'open':
      return [look, ...(holder?.url == null ? [] : [[holder.url, 'the page; open it in a browser'] as const]), ...questions(data)];
    case 'unfinished':
      if (detail === 'upgrade') return [[`unspent upgrade${data}`, 'goes on with it']];
      if (detail === 'restore') return [[`unspent restore DIR${data}`, 'begins it anew, from the folder of backups']];
      return [[`unspent snapshot import DIR${data}`, 'begins the import anew']];
    case 'outdated':
      return [
        [`unspent upgrade --dry-run${data}`, 'what it takes to read it'],
        [`unspent backup DIR${data}`, 'with the version that wrote it: the only way back'],
        [`unspent upgrade${data}`, 'brings it to the format of this version'],
      ];
    case 'unreadable':
      return stepsWithout(detail);
    default:
      return [
        [`unspent start${sourceFor(network)}${data}`, 'goes on with its chain, and serves it'],
        [`unspent serve${data}`, 'serves it as it is'],
        ...questions(data),
        ...walletSteps(config, data),
      ];
  }
}

/** No command reads the store: each would say the same again. */
function stepsWithout(why: Found['detail']): readonly Step[] {
  const anew: Step = ['unspent sync --source URL --data NEW', 'makes another store of the same chain'];
  switch (why) {
    case 'STORE_DAMAGED':
      return [['unspent restore DIR --data NEW', 'makes a store of the newest backup in DIR'], anew];
    case 'STORE_FOREIGN':
      return [['unspent start --data NEW', 'a devnet of its own, in a directory that is new or empty'], anew];
    case 'STORE_SCHEMA':
      return [['npm install --global unspent@latest', 'a version that reads it'], anew];
    default:
      return [];
  }
}

function questions(data: string): Step[] {
  return [
    [`unspent status${data}`, 'where it is, and how far back it can go'],
    [`unspent query address ADDRESS${data}`, 'what an address holds'],
  ];
}

function walletSteps({ wallet, data }: Context['settings']['config'], flag: string): Step[] {
  const file = walletDatabaseFile(walletDatabaseUrl(wallet.database, data));
  return file !== null && existsSync(file) ? [[`unspent wallet list${flag}`, 'the wallets beside it']] : [];
}

/** A chain that is made here needs no source. */
function sourceFor(network: string | null): string {
  if (network === null || localChain(network) !== null) return '';
  const forms = familyOfNetwork(network).sources.find(({ several }) => several)?.forms ?? [];
  return ` --source ${forms[0] ?? 'URL'}`;
}

function report({ output, settings }: Context, { text: _, ...found }: Found, steps: readonly Step[]): void {
  const { config, file } = settings;
  const next = steps.map(([command, doc]) => ({ command, doc }));
  output.document({ version: VERSION, data: config.data, ...found, config: file ?? null, next });
}

function show({ output, settings, terminal }: Context, { text, state }: Found, steps: readonly Step[]): void {
  const { bold, red, cyan } = terminal.style.stdout;
  const { file, config } = settings;
  output.line(`${bold(`unspent ${VERSION}`)}, a UTXO state engine\n`);
  output.pairs([
    ['store', state === 'unreadable' ? red(text) : text],
    ...(file === undefined ? [] : [['settings', `${file} (${config.given.join(', ')})`] as const]),
  ]);
  const width = Math.max(0, ...steps.map(([command]) => command.length));
  if (steps.length > 0) output.line(`\n${bold('What to do next')}`);
  for (const [command, doc] of steps) output.line(`  ${cyan(command)}${' '.repeat(width - command.length)}  ${doc}`);
  output.line('\n`unspent --help` lists all commands; `unspent COMMAND --help` has examples of each.');
}
