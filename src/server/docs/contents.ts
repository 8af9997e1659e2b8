/**
 * What the documentation has, in the order in which a reader meets it: the
 * sections of the site with the files of each. A test sees to it that every page
 * of `docs/` is in it once. The folders of decisions and of the package's doors
 * list themselves.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where `docs/` lies: the checkout or the installed package, from the sources as from what was compiled. */
export const ROOT = join(import.meta.dirname, '../../..');

export interface Section {
  readonly title: string;
  /** From the root, as `docs/concepts.md`. */
  readonly files: readonly string[];
  /** Closed in the list of pages until one of its pages is read. */
  readonly folded?: true;
}

const SECTIONS: readonly Section[] = [
  { title: 'Begin', files: ['docs/index.md', 'docs/concepts.md'] },
  {
    title: 'Quick starts',
    files: ['docs/start/dapp.md', 'docs/start/wallet.md', 'docs/start/exchange.md', 'docs/start/explorer.md', 'docs/start/operator.md'],
  },
  {
    title: 'How to',
    files: [
      'docs/howto/follow-mainnet.md',
      'docs/howto/point-your-wallet-here.md',
      'docs/howto/prove-a-balance.md',
      'docs/howto/back-up.md',
      'docs/howto/move-to-another-machine.md',
      'docs/howto/start-from-your-node.md',
    ],
  },
  {
    title: 'Guides',
    files: [
      'docs/page.md',
      'docs/operating.md',
      'docs/backup.md',
      'docs/packaging.md',
      'docs/readers.md',
      'docs/replicas.md',
      'docs/sql.md',
      'docs/cassandra.md',
      'docs/scale.md',
      'docs/wallets.md',
      'docs/transactions.md',
      'docs/proofs.md',
      'docs/drop-in.md',
      'SECURITY.md',
    ],
  },
  {
    title: 'Reference',
    files: [
      'docs/reference/cli.md',
      'docs/reference/commands.md',
      'docs/reference/config.md',
      'docs/reference/http.md',
      'docs/reference/events.md',
      'docs/reference/errors.md',
      'docs/reference/columns.md',
      'docs/reference/records.md',
      'docs/reference/snapshot.md',
      'docs/reference/esplora.md',
      'docs/reference/electrum.md',
      'docs/reference/kupo.md',
      'docs/reference/blockfrost.md',
      'docs/reference/ogmios.md',
      'docs/reference/utxorpc.md',
      'docs/reference/cage.md',
      'docs/reference/mpfs.md',
    ],
  },
  { title: 'The library', files: folder('docs/reference/api'), folded: true },
  {
    title: 'Inside',
    files: [
      'ARCHITECTURE.md',
      'docs/internals/speed.md',
      'docs/internals/testing.md',
      'docs/internals/transaction-store.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
    ],
    folded: true,
  },
  { title: 'Decisions', files: folder('docs/adr'), folded: true },
];

/** The sections without files that this copy does not have: an installed package lacks those for who changes the code. */
export function readSections(): readonly Section[] {
  const present = SECTIONS.map((section) => ({ ...section, files: section.files.filter((file) => existsSync(join(ROOT, file))) }));
  return present.filter(({ files }) => files.length > 0);
}

/** The pages of a folder by name, its README first. */
function folder(path: string): string[] {
  const directory = join(ROOT, path);
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith('.md') && name !== 'README.md');
  return ['README.md', ...names.toSorted()].map((name) => `${path}/${name}`);
}
