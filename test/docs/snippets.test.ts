/**
 * Every block of TypeScript on a page is a program, or a part of one, that the
 * compiler takes: all of them in one run, each with declarations of what the
 * page speaks of around it. Pages with programs of their own run them as well:
 * `cage.test.ts`, `walks.test.ts`, and `test/package` the README's.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { blocksOf, PAGES, ROOT } from './page-blocks.ts';

/** What the blocks of a page take for granted, in their order. A page that is not here has blocks that stand by themselves. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  'docs/proofs.md': [
    'declare const response: Response; declare const trustedRoot: Uint8Array;',
    'declare const answer: unknown; declare const root: Uint8Array; declare const token: Uint8Array; declare const key: Uint8Array;',
    'declare const address: Uint8Array; declare const bytes: Uint8Array; declare const trustedRoot: Uint8Array; declare const txId: Uint8Array; declare const index: number; declare const txOut: Uint8Array;',
    `import { csmt } from 'unspent/proofs';
     declare const nodes: Parameters<typeof csmt.update>[0]; declare const sink: Parameters<typeof csmt.update>[1];
     declare const owner: Uint8Array; declare const txOut: Uint8Array;
     declare const created: Parameters<typeof csmt.utxoKey>[1]; declare const spent: typeof created;`,
  ],
  'docs/reference/events.md': [
    `import type { Store } from 'unspent';
     declare const store: Store; declare const savedPosition: string | undefined; declare const database: { transaction(body: () => void): void };
     declare function apply(event: unknown): void; declare function savePosition(position: string): void;`,
    `import type { Store } from 'unspent'; declare const store: Store; declare const address: string;`,
  ],
  'docs/reference/snapshot.md': [`import type { Store } from 'unspent'; declare const store: Store;`],
  'docs/wallets.md': [
    'declare const descriptor: string; declare const address: string;',
    '',
    `import { historyTxs, walletTxOf } from './src/wallet/bitcoin/wallet-tx.ts';
     import { storeFeed } from './src/wallet/feed/store-feed.ts';
     import { WalletFeed } from './src/wallet/feed/wallet-feed.ts';
     import { WalletMempool } from './src/wallet/feed/wallet-mempool.ts';
     declare const wallets: ConstructorParameters<typeof WalletFeed>[0]; declare const signal: AbortSignal;
     declare const source: { readonly mempool: { watch(listener: Parameters<WalletMempool['take']>[0] extends infer C ? (change: C) => void : never): void } };
     declare const store: import('./src/store/store.ts').OpenStore;`,
    `import { walletTxOf } from './src/wallet/bitcoin/wallet-tx.ts';
     import { HttpMempool } from './src/wallet/feed/http-mempool.ts';
     import type { WalletMempool } from './src/wallet/feed/wallet-mempool.ts';
     declare const url: string; declare const token: string; declare const parseId: (text: string) => Uint8Array; declare const mweb: boolean;
     declare const mempool: WalletMempool; declare const signal: AbortSignal;`,
    `import { cardanoNetwork } from './src/ledgers/cardano/networks.ts';
     import { feedWallets } from './src/server/wallets/feed-wallets.ts';
     import { openCardanoWallets } from './src/wallet/cardano/cardano-wallets.ts';
     declare const store: import('./src/store/store.ts').OpenStore; declare const signal: AbortSignal;`,
    `import { DEFAULT_RATES } from './src/wallet/selection/bitcoin/fee-rate.ts';
     import { inputWeight } from './src/wallet/selection/bitcoin/input-weight.ts';
     declare const coins: Parameters<typeof selectCoins>[0]; declare const script: Uint8Array; declare const changeScript: Uint8Array;`,
  ],
};

test('every block of TypeScript passes the compiler', () => {
  // Inside the project, so that packages are found as a program of ours finds them.
  mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true });
  const directory = mkdtempSync(join(ROOT, 'node_modules/.cache/snippets-'));
  try {
    let blocks = 0;
    for (const page of PAGES) {
      const programs = blocksOf(page).filter(({ language, how }) => language === 'ts' && how === '');
      const given = GIVEN[page] ?? [];
      for (const [i, { text }] of programs.entries()) {
        const name = `${page.replaceAll('/', '-').replace(/\.md$/, '')}-${i + 1}.ts`;
        const program = `${(given[i] ?? '').replaceAll('\n', ' ')}\n${text}\nexport {};\n`;
        // Where a page shows the inside of the project, it stands in the project's folder.
        writeFileSync(join(directory, name), program.replaceAll("'./src/", `'${relative(directory, ROOT)}/src/`));
        blocks++;
      }
    }
    const paths = { unspent: [join(ROOT, 'src/index.ts')], 'unspent/*': [join(ROOT, 'src/*.ts')] };
    const compilerOptions = { paths, typeRoots: [join(ROOT, 'node_modules/@types')] };
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*.ts'], exclude: [] }),
    );
    const { stdout, status } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', directory, '--pretty', 'false'], { encoding: 'utf8' });
    assert.ok(blocks >= 8);
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
