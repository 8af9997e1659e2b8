/**
 * Every block of TypeScript on a page is a program, or a part of one, that the
 * compiler takes: all of them in one run, each with declarations of what the
 * page speaks of around it. Pages with programs of their own run them as well:
 * `cage.test.ts`, `walks.test.ts`, and `test/package` the README's.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  'docs/wallets.md': ['declare const descriptor: string; declare const address: string;'],
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
        writeFileSync(join(directory, name), `${(given[i] ?? '').replaceAll('\n', ' ')}\n${text}\nexport {};\n`);
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
