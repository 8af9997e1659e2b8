/**
 * What makes the store in memory atomic: every change of a table or a cell tells
 * the journal how to undo it. A call that fails undoes its changes, newest first;
 * a call that succeeds forgets how.
 */
export class MemoryJournal {
  #undo: (() => void)[] = [];

  /** Runs `change`; whatever it throws leaves nothing changed. */
  atomically<T>(change: () => T): T {
    try {
      const result = change();
      this.#undo = [];
      return result;
    } catch (error) {
      for (const undo of this.#undo.reverse()) undo();
      this.#undo = [];
      throw error;
    }
  }

  record(undo: () => void): void {
    this.#undo.push(undo);
  }
}

/** A map of rows. Rows are values: a changed row is another one under the same key. */
export class MemoryTable<Key, Row> {
  readonly #rows = new Map<Key, Row>();
  readonly #journal: MemoryJournal;

  constructor(journal: MemoryJournal) {
    this.#journal = journal;
  }

  get(key: Key): Row | undefined {
    return this.#rows.get(key);
  }

  values(): Iterable<Row> {
    return this.#rows.values();
  }

  set(key: Key, row: Row): void {
    this.#remember(key);
    this.#rows.set(key, row);
  }

  delete(key: Key): void {
    this.#remember(key);
    this.#rows.delete(key);
  }

  #remember(key: Key): void {
    const before = this.#rows.get(key);
    this.#journal.record(() => {
      if (before === undefined) this.#rows.delete(key);
      else this.#rows.set(key, before);
    });
  }
}

/** One value that changes. */
export class MemoryCell<Value> {
  #value: Value;
  readonly #journal: MemoryJournal;

  constructor(journal: MemoryJournal, value: Value) {
    this.#journal = journal;
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set value(value: Value) {
    const before = this.#value;
    this.#journal.record(() => {
      this.#value = before;
    });
    this.#value = value;
  }
}
