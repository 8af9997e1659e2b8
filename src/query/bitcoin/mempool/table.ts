/**
 * The transactions of the mempool and the three ways to find them: by id, by
 * the output they spend, by script key. It keeps the ways in step and notes
 * which scripts were touched; what may be in it is for the mempool to say.
 */
import type { Entry, SpentCoin } from './entry.ts';

interface Spender {
  readonly entry: Entry;
  readonly input: number;
}

const NOBODY: ReadonlySet<Entry> = new Set();

export class MempoolTable {
  bytes = 0;
  /** By hex of the id; in order of arrival. */
  private readonly byId = new Map<string, Entry>();
  /** By hex of the id whose outputs they spend; where there are several, then by index. */
  private readonly spenders = new Map<string, Spender | Map<number, Spender>>();
  /** Most scripts are touched by one transaction only, and a set for each would be most of the memory. */
  private readonly scripts = new Map<string, Entry | Set<Entry>>();
  private touched: Set<string> | null = null;

  get size(): number {
    return this.byId.size;
  }

  has(hexId: string): boolean {
    return this.byId.has(hexId);
  }

  get(hexId: string): Entry | undefined {
    return this.byId.get(hexId);
  }

  entries(): Iterable<Entry> {
    return this.byId.values();
  }

  byScript(key: string): readonly Entry[] {
    const entries = this.scripts.get(key);
    if (!(entries instanceof Set)) return entries === undefined ? [] : [entries];
    return [...entries].sort((a, b) => a.number - b.number);
  }

  spender(parent: string, index: number): Spender | undefined {
    const spenders = this.spenders.get(parent);
    if (spenders === undefined || spenders instanceof Map) return spenders?.get(index);
    return spenders.entry.inputs[spenders.input].index === index ? spenders : undefined;
  }

  /** Those that spend an output of that transaction, wherever it is. */
  children(hexId: string): ReadonlySet<Entry> {
    const spenders = this.spenders.get(hexId);
    if (spenders === undefined) return NOBODY;
    return spenders instanceof Map ? new Set([...spenders.values()].map(({ entry }) => entry)) : new Set([spenders.entry]);
  }

  /** Nobody else spends what it spends. */
  insert(entry: Entry, coins: readonly (SpentCoin | null)[]): void {
    this.byId.set(entry.hexId, entry);
    this.bytes += entry.raw.length;
    for (let input = 0; input < entry.inputs.length; input++) this.enter({ entry, input });
    entry.coins = coins;
    this.index(entry);
  }

  /** What its inputs are known to spend from now on. */
  resolve(entry: Entry, coins: readonly (SpentCoin | null)[]): void {
    if (coins.every((coin, i) => isSame(coin, entry.coins[i]))) return;
    this.unindex(entry);
    entry.coins = coins;
    this.index(entry);
  }

  /** It alone: what spends its outputs is for the caller to look up again. */
  drop(entry: Entry): void {
    this.byId.delete(entry.hexId);
    this.bytes -= entry.raw.length;
    for (const { parent, index } of entry.inputs) {
      const spenders = this.spenders.get(parent);
      if (spenders instanceof Map) spenders.delete(index);
      if (!(spenders instanceof Map) || spenders.size === 0) this.spenders.delete(parent);
    }
    this.unindex(entry);
  }

  /** With everything that builds on it. */
  dropTree(entry: Entry): void {
    const tree = new Set([entry]);
    // A set gives what is added to it while it is walked.
    for (const member of tree) for (const child of this.children(member.hexId)) tree.add(child);
    for (const member of tree) this.drop(member);
  }

  clear(): void {
    for (const entry of this.byId.values()) this.touch(entry);
    for (const map of [this.byId, this.spenders, this.scripts]) map.clear();
    this.bytes = 0;
  }

  /** The script keys of everything that changed since the last call; null: nothing did. */
  takeTouched(): ReadonlySet<string> | null {
    const { touched } = this;
    this.touched = null;
    return touched;
  }

  private enter(spender: Spender): void {
    const { entry, input } = spender;
    const { parent, index } = entry.inputs[input];
    const others = this.spenders.get(parent);
    if (others === undefined) this.spenders.set(parent, spender);
    else if (others instanceof Map) others.set(index, spender);
    else this.spenders.set(parent, new Map([others, spender].map((one) => [one.entry.inputs[one.input].index, one])));
  }

  private index(entry: Entry): void {
    for (const key of this.touch(entry)) {
      const entries = this.scripts.get(key);
      if (entries === undefined) this.scripts.set(key, entry);
      else if (entries instanceof Set) entries.add(entry);
      else if (entries !== entry) this.scripts.set(key, new Set([entries, entry]));
    }
  }

  private unindex(entry: Entry): void {
    for (const key of this.touch(entry)) {
      const entries = this.scripts.get(key);
      if (entries instanceof Set) entries.delete(entry);
      if (!(entries instanceof Set) || entries.size === 0) this.scripts.delete(key);
    }
  }

  private touch(entry: Entry): readonly string[] {
    const keys = [...entry.keys()];
    this.touched ??= new Set();
    for (const key of keys) this.touched.add(key);
    return keys;
  }
}

/** Of one outpoint: whether it is known, and where it stands, is all that can differ. */
function isSame(a: SpentCoin | null, b: SpentCoin | null): boolean {
  return a === null || b === null ? a === b : a.height === b.height;
}
