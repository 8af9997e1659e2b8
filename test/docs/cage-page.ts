/**
 * The TypeScript blocks of docs/reference/cage.md as two programs: what reads a
 * store, up to "A node", and what works with a node, from there on. The second
 * needs values that the page takes for granted; `GIVEN` declares them.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = join(import.meta.dirname, '../../docs/reference/cage.md');
const SECOND = '\n## A node\n';

/** What the blocks with a node take for granted, as declarations. */
export const GIVEN = `import type { KeyObject } from 'node:crypto';
import type { Store } from 'unspent';
declare const given: {
  store: Store; address: string; stateCode: Uint8Array; signingKey: KeyObject; verificationKey: Uint8Array; key: Uint8Array; value: Uint8Array;
};
const { store, address, stateCode, signingKey, verificationKey, key, value } = given;
`;

/** Each as a list of blocks. */
export function cagePage(): { readonly reads: readonly string[]; readonly sends: readonly string[] } {
  const page = readFileSync(PAGE, 'utf8');
  const [reads, sends] = page.split(SECOND).map((part) => Array.from(part.matchAll(/```ts by [^\n]*\n([\s\S]*?)```/g), ([, text]) => text));
  assert.ok(reads.length > 0 && sends.length > 0, `${PAGE} has blocks before and after${SECOND}`);
  return { reads, sends };
}
