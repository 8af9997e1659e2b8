/**
 * What a store knows of cages against the producer's account of the block it is
 * at: tokens with every fact, requests that wait, counts. And the store against
 * itself: tries against facts, roots against datums.
 */
import { deepEqual, equal } from 'node:assert/strict';
import type { CageModel } from '../../src/chains/cardano/devnet/cage/model.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { toHex, utf8 } from '../../src/util/bytes.ts';

/** What switches them on. */
export const KEEP_CAGES: readonly string[] = ['cage.enabled=true', 'cage.deployments=devnet'];

const EMPTY = ['malformed 0'];

/** The account as lines; facts are told by their hash, because there is one list for each block of a story. */
export function cageLines({ tokens, requests, malformed }: CageModel): readonly string[] {
  return [
    ...Array.from(tokens.values(), ({ name, ref, owner, root, facts }) =>
      tokenLine(
        name,
        ref,
        owner,
        root,
        Array.from(facts, ([key, value]) => `${key}=${value}`),
      ),
    ).sort(),
    ...[...requests.values()].flatMap(({ ref, script }) => (script === null ? [] : [ref])).sort(),
    `malformed ${malformed}`,
  ];
}

function tokenLine(name: string, ref: string, owner: string, root: string, facts: string[]): string {
  return `${name} ${ref} ${owner} ${root} ${facts.length} ${toHex(sha256(utf8(facts.sort().join('\n'))))}`;
}

function storedLines(store: OpenStore): readonly string[] {
  return store.read((query) => {
    const cage = query.cage();
    const ref = ({ txId, index }: { readonly txId: Uint8Array; readonly index: number }): string => `${toHex(txId)}#${index}`;
    const tokens = Array.from(cage.tokens(), (token) => {
      equal(token.status, 'consistent');
      const facts = Array.from(cage.facts(token), ({ key, value }) => `${toHex(key)}=${toHex(value)}`);
      return tokenLine(toHex(token.id.name), ref(token), toHex(token.state.owner), toHex(token.state.root), facts);
    });
    return [...tokens.sort(), ...Array.from(cage.allRequests(), ref).sort(), `malformed ${cage.counters().malformed}`];
  });
}

/** `expected` undefined: before the first block. */
export function checkCages(store: OpenStore, expected: readonly string[] = EMPTY): void {
  deepEqual(storedLines(store), expected, 'the cages');
  const { faults } = store.verify();
  deepEqual(faults, []);
}
