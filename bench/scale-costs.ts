/**
 * What a row costs, as docs/internals/speed.md has it measured. `cited` is the
 * place there, word for word: where a figure is measured anew, a test says that
 * this table is to follow.
 */
export interface Cost {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
  readonly cited: string;
}

export const COSTS = {
  fold: {
    value: 17.5,
    unit: 'us',
    what: 'the fold, an output made or spent, at the tip, 20 million unspent',
    cited: '| 20.1 M | 16.6 | 17.5 | 10.3 | 282 | 900 MB |',
  },
  catchUp: {
    value: 16.6,
    unit: 'us',
    what: 'the same in groups of blocks, far behind the tip',
    cited: '| 20.1 M | 16.6 | 17.5 | 10.3 | 282 | 900 MB |',
  },
  output: {
    value: 282,
    unit: 'bytes',
    what: 'the local disk, an unspent output with two indexes',
    cited: '| 20.1 M | 16.6 | 17.5 | 10.3 | 282 | 900 MB |',
  },
  history: {
    value: 344,
    unit: 'bytes',
    what: 'the local disk, a transaction of the history, beside its own bytes',
    cited: 'Ids, spends and the rows by address and credential are the other 344.',
  },
  publisher: {
    value: 11.8,
    unit: 'us',
    what: 'the publisher, a row of a change',
    cited: '| publisher, a row, here and at the server | 17.6 us and 3.6 us | 11.8 us and 3.2 us | |',
  },
  database: {
    value: 3.2,
    unit: 'us',
    what: 'PostgreSQL, a row of a change (the process of the connection)',
    cited: '| publisher, a row, here and at the server | 17.6 us and 3.6 us | 11.8 us and 3.2 us | |',
  },
  rowOverhead: {
    value: 176,
    unit: 'bytes',
    what: "PostgreSQL's disk, a row beside its key and value",
    cited: '| bytes of a row with its key; on the disk with the index | 259; 388 | 179; 355 | |',
  },
  log: { value: 334, unit: 'bytes', what: "PostgreSQL's log, a row of a change", cited: '334 bytes a row' },
  reader: {
    value: 228,
    unit: 'us',
    what: 'a reader, a read of one output that is not in its memory',
    cited: '| an output, each another one | 88 µs | 228 µs (2.6 ×) | 28 µs | 1 | 0.18 |',
  },
  read: {
    value: 28,
    unit: 'us',
    what: 'PostgreSQL, the same read',
    cited: '| an output, each another one | 88 µs | 228 µs (2.6 ×) | 28 µs | 1 | 0.18 |',
  },
  cassandra: {
    value: 45,
    unit: 'us',
    what: 'a node of Cassandra, one copy of a row of a change',
    cited: '| publisher, old versions not removed meanwhile (`--removal=0`) | 7,204 | 98 ms | 405 ms |',
  },
} as const satisfies Record<string, Cost>;
