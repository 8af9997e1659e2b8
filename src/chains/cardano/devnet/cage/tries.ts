/**
 * Tries of the devnet's tokens, for the proofs that updates carry. They follow
 * from the facts in the model: after a rollback they are made from those again.
 */
import { MemoryNodes, mpf } from '../../../../proofs/index.ts';
import { fromHex, toHex } from '../../../../util/bytes.ts';
import type { FactChange, ModelRequest, ModelToken } from './model.ts';

export interface TrieWork {
  readonly root: string;
  readonly changes: readonly FactChange[];
  /** In the form that a redeemer has, one a request. */
  readonly proofs: readonly Uint8Array[];
}

export class ModelTries {
  private readonly tries = new Map<string, MemoryNodes>();

  /** Applies requests one after another. The trie stays so: whoever does not keep the result calls `forget`. */
  apply(token: ModelToken, requests: readonly ModelRequest[]): TrieWork {
    const nodes = this.trieOf(token);
    const changes: FactChange[] = [];
    const proofs: Uint8Array[] = [];
    for (const { key, operation } of requests) {
      proofs.push(mpf.encode(mpf.prove(nodes, fromHex(key)).proof, 'redeemer'));
      const value = operation.type === 'delete' ? null : operation.type === 'insert' ? operation.value : operation.after;
      mpf.update(nodes, nodes, [{ key: fromHex(key), value }]);
      changes.push({ key, value: value === null ? undefined : toHex(value) });
    }
    return { root: toHex(mpf.root(nodes)), changes, proofs };
  }

  /** One, or all of them. */
  forget(token?: string): void {
    if (token === undefined) this.tries.clear();
    else this.tries.delete(token);
  }

  private trieOf({ name, facts }: ModelToken): MemoryNodes {
    const known = this.tries.get(name);
    if (known !== undefined) return known;
    const nodes = new MemoryNodes();
    mpf.update(
      nodes,
      nodes,
      Array.from(facts, ([key, value]) => ({ key: fromHex(key), value: fromHex(value) })),
    );
    this.tries.set(name, nodes);
    return nodes;
  }
}

/** Whether a request can be applied to these facts with these changes on top. */
export function isApplicable({ facts }: ModelToken, changes: ReadonlyMap<string, string | undefined>, request: ModelRequest): boolean {
  const { key, operation } = request;
  const value = changes.has(key) ? changes.get(key) : facts.get(key);
  if (operation.type === 'insert') return value === undefined;
  return value === toHex(operation.type === 'update' ? operation.before : operation.value);
}

/** What a key will hold after the request; undefined: nothing. */
export function valueAfter({ operation }: ModelRequest): string | undefined {
  if (operation.type === 'delete') return undefined;
  return toHex(operation.type === 'insert' ? operation.value : operation.after);
}
