/**
 * The devnet's own account of its cages: tokens with their facts, and requests
 * that wait. Like the account of unspent outputs (`../model.ts`) it is told what
 * each transaction does by the code that wrote it, and never reads a block.
 *
 * Every change leaves its inverse behind; going back calls them, newest first.
 */
import type { CageOperation, CageTerms } from '../../../../ledgers/cardano/cage/index.ts';
import { compareBytes, fromHex } from '../../../../util/bytes.ts';

/** Bytes are hex, outputs `<txid hex>#<index>`. */
export interface ModelToken {
  /** Asset name. */
  readonly name: string;
  /** The output that holds it. */
  readonly ref: string;
  readonly owner: string;
  readonly root: string;
  readonly terms: CageTerms;
  readonly facts: ReadonlyMap<string, string>;
}

export interface ModelRequest {
  readonly ref: string;
  readonly token: string;
  readonly owner: string;
  readonly key: string;
  readonly operation: CageOperation;
  readonly tip: bigint;
  /** POSIX milliseconds. */
  readonly submittedAt: bigint;
  readonly lovelace: bigint;
  /** The script it sits at; null: at the address of a key, where nobody lists it but an update may use it. */
  readonly script: string | null;
}

export interface FactChange {
  readonly key: string;
  /** Undefined: deleted. */
  readonly value: string | undefined;
}

export class CageModel {
  private readonly tokenMap = new Map<string, ModelToken>();
  private readonly requestMap = new Map<string, ModelRequest>();
  /** Outputs at request scripts that are no requests, and the name of the token whose script it is. */
  private readonly litterMap = new Map<string, string>();
  private malformedCount = 0;
  private readonly inverses: (() => void)[] = [];

  /** By asset name. */
  get tokens(): ReadonlyMap<string, ModelToken> {
    return this.tokenMap;
  }

  get requests(): ReadonlyMap<string, ModelRequest> {
    return this.requestMap;
  }

  get litter(): ReadonlyMap<string, string> {
    return this.litterMap;
  }

  /** Outputs so far at scripts of cages whose datum is none of the protocol. */
  get malformed(): number {
    return this.malformedCount;
  }

  /** Of a token, in ledger order: by transaction id, then index. */
  requestsFor(token: string): ModelRequest[] {
    return [...this.requestMap.values()].filter((request) => request.token === token).sort((a, b) => compareRefs(a.ref, b.ref));
  }

  setToken(token: ModelToken): void {
    this.set(this.tokenMap, token.name, token);
  }

  removeToken(name: string): void {
    this.set(this.tokenMap, name, undefined);
  }

  setRequest(request: ModelRequest): void {
    this.set(this.requestMap, request.ref, request);
  }

  removeRequest(ref: string): void {
    this.set(this.requestMap, ref, undefined);
  }

  changeFacts({ facts }: ModelToken, changes: readonly FactChange[]): void {
    for (const { key, value } of changes) this.set(facts as Map<string, string>, key, value);
  }

  addLitter(ref: string, token: string): void {
    this.set(this.litterMap, ref, token);
  }

  removeLitter(ref: string): void {
    this.set(this.litterMap, ref, undefined);
  }

  countMalformed(): void {
    this.malformedCount++;
    this.inverses.push(() => this.malformedCount--);
  }

  /** A place in time to go back to. */
  mark(): number {
    return this.inverses.length;
  }

  revert(mark: number): void {
    while (this.inverses.length > mark) this.inverses.pop()!();
  }

  private set<V>(map: Map<string, V>, key: string, value: V | undefined): void {
    const before = map.get(key);
    this.inverses.push(() => put(map, key, before));
    put(map, key, value);
  }
}

function put<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

/** As the ledger sorts inputs. */
export function compareRefs(a: string, b: string): number {
  const [left, right] = [refOf(a), refOf(b)];
  return compareBytes(left.txId, right.txId) || left.index - right.index;
}

export function refOf(ref: string): { readonly txId: Uint8Array; readonly index: number } {
  const hash = ref.indexOf('#');
  return { txId: fromHex(ref.slice(0, hash)), index: Number(ref.slice(hash + 1)) };
}
