/**
 * Three chains, as round numbers of what they are or would be. All of it is
 * estimated: nothing here was counted by us but the spends and creates of a
 * Conway transaction, which are those of the sample chunk of mainnet.
 */
export interface ChainSize {
  readonly name: string;
  /** Outputs: now, and more of them every year. */
  readonly unspent: number;
  readonly unspentPerYear: number;
  /** Transactions so far, and every second from now on. */
  readonly transactions: number;
  readonly perSecond: number;
  /** So far. */
  readonly blocks: number;
  readonly secondsPerBlock: number;
  /** Blocks come at random moments, as most chains have them; false: at equal distances. */
  readonly isRandom: boolean;
  readonly spends: number;
  readonly creates: number;
  /** Of a transaction as it stands in its block. */
  readonly bytes: number;
  /** Outputs by which a row of an index each is kept: address, payment and stake credential; script. */
  readonly indexes: number;
  readonly withHistory: boolean;
  /** Requests a second that are to be answered. */
  readonly requests: number;
}

export const SIZES: readonly ChainSize[] = [
  {
    name: 'Cardano mainnet',
    unspent: 12e6,
    unspentPerYear: 1e6,
    transactions: 120e6,
    perSecond: 0.5,
    blocks: 13e6,
    secondsPerBlock: 20,
    isRandom: true,
    spends: 3.2,
    creates: 3.1,
    bytes: 1570,
    indexes: 3,
    withHistory: false,
    requests: 1000,
  },
  {
    name: 'Bitcoin mainnet with history',
    unspent: 170e6,
    unspentPerYear: 10e6,
    transactions: 1.3e9,
    perSecond: 5,
    blocks: 930e3,
    secondsPerBlock: 600,
    isRandom: true,
    spends: 2.4,
    creates: 2.6,
    bytes: 560,
    indexes: 1,
    withHistory: true,
    requests: 5000,
  },
  {
    name: 'a million transactions a second',
    unspent: 10e9,
    unspentPerYear: 10e9,
    transactions: 31.5e12,
    perSecond: 1e6,
    blocks: 31.5e6,
    secondsPerBlock: 1,
    isRandom: false,
    spends: 2,
    creates: 2,
    bytes: 250,
    indexes: 1,
    withHistory: true,
    requests: 1e6,
  },
];

/** One machine, as a company rents it: nothing here was measured. */
export const MACHINE = { cores: 16, diskBytes: 4e12, networkBytesPerSecond: 1.25e9 } as const;
