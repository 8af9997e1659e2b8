/**
 * The networks of the family and what tells them apart: the four bytes their
 * messages and block files begin with, ports, how addresses are written, and
 * the first block. Sources: Bitcoin Core's and Litecoin Core's chainparams; the
 * first blocks are built by `genesis.ts` and hash to what stands here.
 */
import { UnspentError } from '../../util/errors.ts';

/** What is known of a network of the Bitcoin family. */
export interface BitcoinNetwork {
  /** Its name. */
  readonly name: string;
  /** The first four bytes of each message and of each record of a block file, in that order. */
  readonly magic: number;
  /** The port its nodes listen on. */
  readonly p2pPort: number;
  /** The port of their RPC interface. */
  readonly rpcPort: number;
  /** The hash of its first block, as people write it. */
  readonly genesisHash: string;
  /** What the first block is built from. */
  readonly genesis: GenesisFacts;
  /** What the proof of work of its headers must be. */
  readonly work: WorkRules;
  /** The first byte of a base58 address of a key hash. */
  readonly p2pkh: number;
  /** The first byte of a base58 address of a script hash: the first is written, all are read. */
  readonly p2sh: readonly number[];
  /** What a bech32 address begins with. */
  readonly hrp: string;
  /** How its keys are written. */
  readonly keys: KeyVersions;
  /** What its coin is called. */
  readonly unit: 'BTC' | 'LTC';
  /** The height from which on witnesses are committed to (BIP141). */
  readonly segwitHeight: number;
  /** The height from which on coinbases say their height (BIP34). */
  readonly bip34Height: number;
  /** Litecoin's extension blocks may stand behind the transactions of a block. */
  readonly mweb: boolean;
  /** Blocks until a coinbase may be spent. */
  readonly coinbaseMaturity: number;
  /** Blocks until the subsidy of 50 coins is halved. */
  readonly halvingBlocks: number;
  /** Blocks whose coinbase a later one of the same id overwrote while unspent (BIP30), and the block of that one. */
  readonly overwritten: readonly (BlockName & { readonly by: BlockName })[];
}

/** How the keys of a network are written. Litecoin's nodes write extended keys as Bitcoin's do. */
export interface KeyVersions {
  /** The first byte of a private key in base58 (WIF). */
  readonly wif: number;
  /** The first four bytes of an extended public key (BIP32): `xpub` or `tpub`. */
  readonly extendedPublic: number;
  /** The first four bytes of an extended private key: `xprv` or `tprv`. */
  readonly extendedPrivate: number;
  /** The number of its coin in derivation paths (SLIP44); 1 for all test networks. */
  readonly coinType: number;
}

/** A block by height and hash. */
export interface BlockName {
  /** Its height. */
  readonly height: number;
  /** Its hash, as people write it. */
  readonly hash: string;
}

/** What the first block of a network is built from. */
export interface GenesisFacts {
  /** Whose text its coinbase has. */
  readonly coinbase: 'bitcoin' | 'testnet4' | 'litecoin';
  /** Unix seconds. */
  readonly time: number;
  /** The target of its proof of work in the short form of headers. */
  readonly bits: number;
  /** The number its proof of work was found with. */
  readonly nonce: number;
}

/** What the proof of work of a network's headers must be (`difficulty.ts`). */
export interface WorkRules {
  /** What is compared with the target. The name of a block is SHA-256 twice in all of them. */
  readonly hash: 'sha256d' | 'scrypt';
  /** The easiest target, in the short form of headers. */
  readonly limitBits: number;
  /** Seconds from block to block that the target is set for, every 2,016 blocks. */
  readonly spacing: number;
  /** How: as Bitcoin does; from the first block of the period (BIP94); over one block more (Litecoin); never. */
  readonly retarget: 'bitcoin' | 'bip94' | 'litecoin' | 'never';
  /** A block more than twice the spacing later than the one before it may be as easy as the limit. */
  readonly easyWhenLate: boolean;
}

const BITCOIN_WORK: WorkRules = { hash: 'sha256d', limitBits: 0x1d00ffff, spacing: 600, retarget: 'bitcoin', easyWhenLate: false };
const LITECOIN_WORK: WorkRules = { hash: 'scrypt', limitBits: 0x1e0fffff, spacing: 150, retarget: 'litecoin', easyWhenLate: false };
const REGTEST_LIMIT_BITS = 0x207fffff;

const BITCOIN_KEYS: KeyVersions = { wif: 0x80, extendedPublic: 0x0488b21e, extendedPrivate: 0x0488ade4, coinType: 0 };
const TEST_KEYS: KeyVersions = { wif: 0xef, extendedPublic: 0x043587cf, extendedPrivate: 0x04358394, coinType: 1 };

const BITCOIN: BitcoinNetwork = {
  name: 'bitcoin',
  magic: 0xf9beb4d9,
  p2pPort: 8333,
  rpcPort: 8332,
  genesisHash: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
  genesis: { coinbase: 'bitcoin', time: 1231006505, bits: 0x1d00ffff, nonce: 2083236893 },
  work: BITCOIN_WORK,
  p2pkh: 0,
  p2sh: [5],
  hrp: 'bc',
  keys: BITCOIN_KEYS,
  unit: 'BTC',
  segwitHeight: 481_824,
  bip34Height: 227_931,
  mweb: false,
  coinbaseMaturity: 100,
  halvingBlocks: 210_000,
  // The ids of these two coinbases came again. Core's coin statistics leave them out as we do (IsBIP30Unspendable).
  overwritten: [
    {
      height: 91_722,
      hash: '00000000000271a2dc26e7667f8419f2e15416dc6955e5a6c6cdf3f2574dd08e',
      by: { height: 91_880, hash: '00000000000743f190a18c5577a3c2d2a1f610ae9601ac046a38084ccb7cd721' },
    },
    {
      height: 91_812,
      hash: '00000000000af0aed4792b1acee3d966af36cf5def14935db8de83d6f9306f2f',
      by: { height: 91_842, hash: '00000000000a4d0a398161ffc163c503763b1f4360639393e0e4c8e300e0caec' },
    },
  ],
};

const TESTNET3: BitcoinNetwork = {
  ...BITCOIN,
  name: 'bitcoin-testnet3',
  magic: 0x0b110907,
  p2pPort: 18333,
  rpcPort: 18332,
  genesisHash: '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
  genesis: { coinbase: 'bitcoin', time: 1296688602, bits: 0x1d00ffff, nonce: 414098458 },
  work: { ...BITCOIN_WORK, easyWhenLate: true },
  p2pkh: 111,
  p2sh: [196],
  hrp: 'tb',
  keys: TEST_KEYS,
  segwitHeight: 834_624,
  bip34Height: 21_111,
  overwritten: [],
};

const TESTNET4: BitcoinNetwork = {
  ...TESTNET3,
  name: 'bitcoin-testnet4',
  magic: 0x1c163f28,
  p2pPort: 48333,
  rpcPort: 48332,
  genesisHash: '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043',
  genesis: { coinbase: 'testnet4', time: 1714777860, bits: 0x1d00ffff, nonce: 393743547 },
  work: { ...BITCOIN_WORK, easyWhenLate: true, retarget: 'bip94' },
  segwitHeight: 1,
  bip34Height: 1,
};

const SIGNET: BitcoinNetwork = {
  ...TESTNET3,
  name: 'bitcoin-signet',
  magic: 0x0a03cf40,
  p2pPort: 38333,
  rpcPort: 38332,
  genesisHash: '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6',
  genesis: { coinbase: 'bitcoin', time: 1598918400, bits: 0x1e0377ae, nonce: 52613770 },
  work: { ...BITCOIN_WORK, limitBits: 0x1e0377ae },
  segwitHeight: 1,
  bip34Height: 1,
};

const REGTEST: BitcoinNetwork = {
  ...TESTNET3,
  name: 'bitcoin-regtest',
  magic: 0xfabfb5da,
  p2pPort: 18444,
  rpcPort: 18443,
  genesisHash: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
  genesis: { coinbase: 'bitcoin', time: 1296688602, bits: 0x207fffff, nonce: 2 },
  work: { ...BITCOIN_WORK, limitBits: REGTEST_LIMIT_BITS, retarget: 'never' },
  hrp: 'bcrt',
  segwitHeight: 0,
  // Core asks for it from 1 today; older versions, and Litecoin, from 500.
  bip34Height: 500,
  halvingBlocks: 150,
};

const LITECOIN: BitcoinNetwork = {
  ...BITCOIN,
  name: 'litecoin',
  magic: 0xfbc0b6db,
  p2pPort: 9333,
  rpcPort: 9332,
  genesisHash: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
  genesis: { coinbase: 'litecoin', time: 1317972665, bits: 0x1e0ffff0, nonce: 2084524493 },
  work: LITECOIN_WORK,
  p2pkh: 48,
  p2sh: [50, 5],
  hrp: 'ltc',
  keys: { ...BITCOIN_KEYS, wif: 0xb0, coinType: 2 },
  unit: 'LTC',
  segwitHeight: 1_201_536,
  bip34Height: 710_000,
  mweb: true,
  halvingBlocks: 840_000,
  overwritten: [],
};

const LITECOIN_TESTNET: BitcoinNetwork = {
  ...LITECOIN,
  name: 'litecoin-testnet',
  magic: 0xfdd2c8f1,
  p2pPort: 19335,
  rpcPort: 19332,
  genesisHash: '4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0',
  genesis: { coinbase: 'litecoin', time: 1486949366, bits: 0x1e0ffff0, nonce: 293345 },
  work: { ...LITECOIN_WORK, easyWhenLate: true },
  p2pkh: 111,
  p2sh: [58, 196],
  hrp: 'tltc',
  keys: TEST_KEYS,
  segwitHeight: 6048,
  bip34Height: 76,
};

const LITECOIN_REGTEST: BitcoinNetwork = {
  ...LITECOIN_TESTNET,
  name: 'litecoin-regtest',
  // The same as Bitcoin's regtest: only the first block tells them apart.
  magic: 0xfabfb5da,
  p2pPort: 19444,
  rpcPort: 19443,
  genesisHash: '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9',
  genesis: { coinbase: 'litecoin', time: 1296688602, bits: 0x207fffff, nonce: 0 },
  work: { ...LITECOIN_WORK, limitBits: REGTEST_LIMIT_BITS, retarget: 'never' },
  hrp: 'rltc',
  segwitHeight: 0,
  bip34Height: 500,
  halvingBlocks: 150,
};

/** The networks that are known by name. */
export const BITCOIN_NETWORKS: readonly BitcoinNetwork[] = [
  BITCOIN,
  TESTNET3,
  TESTNET4,
  SIGNET,
  REGTEST,
  LITECOIN,
  LITECOIN_TESTNET,
  LITECOIN_REGTEST,
];

/** Throws NETWORK_UNKNOWN. */
export function bitcoinNetwork(name: string): BitcoinNetwork {
  const found = BITCOIN_NETWORKS.find((network) => network.name === name);
  if (found !== undefined) return found;
  const names = BITCOIN_NETWORKS.map((network) => network.name);
  throw new UnspentError('NETWORK_UNKNOWN', `no network '${name}' of the Bitcoin family; there are ${names.join(', ')}`, { name });
}
