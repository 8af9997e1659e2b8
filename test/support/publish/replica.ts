/**
 * A replica as a stranger would write it from docs/replicas.md: it knows lines of
 * text, columns of hex, and how to take back what it took in. Nothing of ours.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

interface ColumnLine {
  readonly column: string;
  readonly puts: readonly (readonly [string, string])[];
  readonly deletes: readonly string[];
}

interface Line {
  readonly kind: string;
  readonly block?: { readonly height: number; readonly hash: string } | null;
  readonly to?: { readonly height: number; readonly hash: string } | null;
  readonly position?: string;
  readonly columns?: readonly ColumnLine[] | readonly string[];
  readonly column?: string;
  readonly puts?: ColumnLine['puts'];
  readonly undo?: readonly ColumnLine[];
  readonly more?: boolean;
}

export class Replica {
  columns = new Map<string, Map<string, string>>();
  /** Where to go on; null: with the whole state. */
  position: string | null = null;
  /** Newest last. */
  private taken: { readonly hash: string; readonly undo: readonly ColumnLine[] }[] = [];
  /** The block of the state it began with. */
  private base: string | null = null;
  readonly counts = { snapshots: 0, applied: 0, rolledBack: 0, undone: 0, cut: 0 };

  /** False: the lines cannot be followed, and it begins anew. True: there is more. */
  take(text: string): 'all' | 'more' | 'anew' {
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    const last = lines.at(-1);
    assert.equal(last?.kind, 'end', 'the lines are whole');
    for (const line of lines) {
      if (line.kind === 'snapshot') this.begin(line);
      if (line.kind === 'rows') for (const [key, value] of line.puts ?? []) this.columns.get(line.column ?? '')?.set(key, value);
      if (line.kind === 'rollback' && !this.goBack(line.to?.hash ?? null)) return 'anew';
      if (line.kind === 'applied') this.apply(line);
    }
    this.position = last?.position ?? assert.fail();
    return last?.more === true ? 'more' : 'all';
  }

  /** Of its unspent outputs, as the oracles make it. */
  digest(): string {
    const lines = [...(this.columns.get('utxo_unspent') ?? [])].map(
      ([key, value]) => `${key.slice(0, 64)}#${Number.parseInt(key.slice(64), 16)} ${BigInt(`0x${value.slice(34, 50)}`)}\n`,
    );
    const names = new Map(lines.map((line) => [line.slice(0, line.indexOf(' ')), line]));
    const hash = createHash('sha256');
    for (const name of [...names.keys()].sort()) hash.update(names.get(name) ?? '');
    return hash.digest('hex');
  }

  private begin({ columns = [], block }: Line): void {
    this.columns = new Map((columns as readonly string[]).map((name) => [name, new Map()]));
    this.taken = [];
    this.base = block?.hash ?? null;
    this.counts.snapshots++;
  }

  private apply({ block, columns = [], undo = [] }: Line): void {
    this.write(columns as readonly ColumnLine[]);
    this.taken.push({ hash: block?.hash ?? assert.fail(), undo });
    this.counts.applied++;
  }

  private goBack(to: string | null): boolean {
    const at = this.taken.findLastIndex(({ hash }) => hash === to);
    if (at < 0 && to !== this.base) return false;
    for (const { undo } of this.taken.splice(at + 1).reverse()) {
      this.write(undo);
      this.counts.undone++;
    }
    this.counts.rolledBack++;
    return true;
  }

  private write(changes: readonly ColumnLine[]): void {
    for (const { column, puts, deletes } of changes) {
      const rows = this.columns.get(column) ?? assert.fail(`there is ${column}`);
      for (const [key, value] of puts) rows.set(key, value);
      for (const key of deletes) rows.delete(key);
    }
  }
}
