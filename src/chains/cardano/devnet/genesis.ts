/**
 * The devnet's genesis files, in the shape a node reads, and the outputs they
 * stand for. A chain that starts with Byron is funded by the Byron file, any
 * other by `initialFunds` of the Shelley file.
 */
import { base58, base64url } from '@scure/base';
import { blake2b256 } from '../../../crypto/hash.ts';
import { toHex } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import type { Random } from '../../random.ts';
import { type AddressBook, byronAddress, DEVNET_MAGIC, type DevnetAddress, redeemAddress } from './addresses.ts';
import { GENESIS_HEIGHT, keyOf, type ModelUtxo, NO_ASSETS } from './model.ts';
import { PARAMETERS } from './parameters.ts';

const START = '2026-01-01T00:00:00Z';
/** POSIX milliseconds of slot 0. */
export const START_MS = Date.parse(START);
const ACTIVE_SLOTS = 0.05;
const SHARE = 1_000_000_000_000n;
/** Odd and above 2^53: a reader that goes through a JavaScript number loses the last digit. */
const HUGE_SHARES = [12_000_000_000_000_001n, 12_000_000_000_000_003n] as const;
const REDEEM_ENTRIES = 12;
const REDEEM_SHARE = 3_000_000_000n;
/** As many as the public test networks have. */
const ZERO_ENTRIES = 7;

export interface Genesis {
  readonly byron: string;
  readonly shelley: string;
  readonly utxos: readonly ModelUtxo[];
}

type Fund = readonly [DevnetAddress, bigint];

export function shelleyFunded(book: AddressBook, k: number): Genesis {
  const funds = book.shelley.map((address, i): Fund => [address, i < HUGE_SHARES.length ? HUGE_SHARES[i] : SHARE]);
  return {
    byron: byronText(k, {}, {}),
    shelley: shelleyText(k, funds),
    // The ledger names these outputs after their address, index 0.
    utxos: funds.map(([address, lovelace]) =>
      grant(address, lovelace, new CborWriter().array(2).bytes(address.bytes).bigUint(lovelace).take()),
    ),
  };
}

/** With balances of 0 and unredeemed keys among them, which two later eras delete. */
export function byronFunded(random: Random, book: AddressBook, k: number): Genesis {
  const funds = book.byron.map((address): Fund => [address, SHARE]);
  for (const share of HUGE_SHARES) funds.push([byronAddress(random), share]);
  for (let i = 0; i < ZERO_ENTRIES; i++) funds.push([byronAddress(random), 0n]);
  const keys = Array.from({ length: REDEEM_ENTRIES }, () => random.bytes(32));
  const redeem = keys.map((key, i): Fund => [redeemAddress(key), REDEEM_SHARE * BigInt(i + 1)]);
  const balances = Object.fromEntries(funds.map(([address, lovelace]) => [base58.encode(address.bytes), lovelace.toString()]));
  const avvm = Object.fromEntries(keys.map((key, i) => [base64url.encode(key), redeem[i][1].toString()]));
  return {
    byron: byronText(k, balances, avvm),
    shelley: shelleyText(k, []),
    utxos: [...funds, ...redeem].map(([address, lovelace]) => grant(address, lovelace, byronOutput(address.bytes, lovelace))),
  };
}

/** In Byron an output holds the address as an item of its own, not as a byte string. */
export function byronOutput(address: Uint8Array, lovelace: bigint): Uint8Array {
  return new CborWriter().array(2).raw(address).bigUint(lovelace).take();
}

function grant(address: DevnetAddress, lovelace: bigint, output: Uint8Array): ModelUtxo {
  const txId = blake2b256(address.bytes);
  return {
    key: keyOf(toHex(txId), 0),
    txId,
    index: 0,
    lovelace,
    assets: NO_ASSETS,
    addressHex: address.hex,
    output,
    height: GENESIS_HEIGHT,
    slot: 0,
    txIndex: 0,
    redeem: address.kind === 'redeem',
  };
}

/** The chain's genesis hash is that of the canonical text, so the file is written canonically: sorted, no blanks. */
function byronText(k: number, nonAvvmBalances: Record<string, string>, avvmDistr: Record<string, string>): string {
  return canonical({
    avvmDistr,
    blockVersionData: {
      heavyDelThd: '300000000000',
      maxBlockSize: '2000000',
      maxHeaderSize: '2000000',
      maxProposalSize: '700',
      maxTxSize: '4096',
      mpcThd: '20000000000000',
      scriptVersion: 0,
      slotDuration: '20000',
      softforkRule: { initThd: '900000000000000', minThd: '600000000000000', thdDecrement: '50000000000000' },
      txFeePolicy: { multiplier: '43946000000', summand: '155381000000000' },
      unlockStakeEpoch: '18446744073709551615',
      updateImplicit: '10000',
      updateProposalThd: '100000000000000',
      updateVoteThd: '1000000000000',
    },
    bootStakeholders: {},
    heavyDelegation: {},
    nonAvvmBalances,
    protocolConsts: { k, protocolMagic: DEVNET_MAGIC },
    startTime: START_MS / 1000,
  });
}

function shelleyText(k: number, funds: readonly Fund[]): string {
  const text = JSON.stringify(
    {
      activeSlotsCoeff: ACTIVE_SLOTS,
      epochLength: Math.round((10 * k) / ACTIVE_SLOTS),
      genDelegs: {},
      initialFunds: Object.fromEntries(funds.map(([address, lovelace]) => [address.hex, `lovelace ${lovelace}`])),
      maxKESEvolutions: 62,
      maxLovelaceSupply: 45_000_000_000_000_000,
      networkId: 'Testnet',
      networkMagic: DEVNET_MAGIC,
      protocolParams: {
        ...PARAMETERS,
        a0: over(PARAMETERS.a0),
        rho: over(PARAMETERS.rho),
        tau: over(PARAMETERS.tau),
        decentralisationParam: 0,
        extraEntropy: { tag: 'NeutralNonce' },
        minUTxOValue: 1_000_000,
      },
      securityParam: k,
      slotLength: 1,
      slotsPerKESPeriod: 129_600,
      staking: { pools: {}, stake: {} },
      systemStart: START,
      updateQuorum: 1,
    },
    null,
    2,
  );
  // Lovelace are JSON numbers in this file, and JavaScript cannot write one above 2^53.
  return text.replaceAll(/"lovelace (\d+)"/g, '$1');
}

function over([numerator, denominator]: readonly [number, number]): number {
  return numerator / denominator;
}

type Json = string | number | { readonly [key: string]: Json };

function canonical(value: Json): string {
  if (typeof value !== 'object') return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}
