/**
 * The Cardano ledger: decode, index keys, and the effects that no transaction
 * carries (genesis, zero outputs dropped after Byron, redeem outputs deleted at
 * Allegra; DESIGN decision 9).
 */

import { blake2b224Into } from '../../crypto/hash.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { ARRAY, Cursor, MAP } from '../../util/cbor.ts';
import { UnspentError } from '../../util/errors.ts';
import {
  type Block,
  type Create,
  type GenesisOutput,
  type HeaderFacts,
  KEY_BYTES,
  KEY_KINDS,
  type Ledger,
  type OutputKeys,
  type PreviousBlock,
  type Transition,
} from '../ledger.ts';
import { verifyBody } from './body-proof.ts';
import { byronOutput, type CardanoBlock, decodeBlock, output } from './decode.ts';
import { type GenesisUtxos, isRedeemOutput, isZeroOutput } from './genesis.ts';
import { bareHeaderAt, ERA, eraName } from './header.ts';
import { cardanoLeaf, findAddress } from './leaf.ts';
import { type CardanoNetwork, ERA_NAMES } from './networks.ts';
import { cardanoScriptData } from './script-data.ts';
import { cardanoSetHash } from './set-hash.ts';
import { cardanoTraits } from './traits.ts';
import { splitTx, wholeTxs } from './whole-tx.ts';

export type { Asset } from '../asset.ts';
export * from './address.ts';
export { builtinGenesis, builtinGenesisUtxos } from './builtin-genesis.ts';
export { type CardanoBlock, type CardanoTx, decodeBlock, OUTPUT_FLAG } from './decode.ts';
export { type DescribedOutput, describeOutput } from './describe.ts';
export { byronGenesisHash, type GenesisUtxos, genesisUtxos } from './genesis.ts';
export { eraName, type Header, readHeader } from './header.ts';
export { CARDANO_NETWORKS, type CardanoNetwork, cardanoNetwork, type EraName, networkFromGenesis } from './networks.ts';
export { type Redeemer, readRedeemers } from './script-data.ts';
export { epochToSlot, slotToEpoch, slotToTime, timeToSlot } from './time.ts';
export {
  type DescribedByronTx,
  type DescribedTx,
  describeByronTx,
  describeTx,
  describeWholeTx,
  type OutRef,
  type TxOutput,
  type Withdrawal,
} from './transaction.ts';
export { splitTx } from './whole-tx.ts';

const MASK = { address: 1, payment: 2, stake: 4 } as const;

export interface Genesis {
  readonly utxos: GenesisUtxos;
  /** What the first block of a Byron chain must name as its previous hash; null: unknown. */
  readonly byronHash: Uint8Array | null;
}

/** `genesis` null: unknown; a chain can then not be followed from its first block. */
export function cardanoLedger(network: CardanoNetwork, genesis: Genesis | null): Ledger {
  return {
    family: 'cardano',
    hasSlots: true,
    keyKinds: KEY_KINDS,
    indexRows: 'place',
    formatId: (id) => toHex(id),
    traits: cardanoTraits,
    scriptData: cardanoScriptData,
    txBytes: wholeTxs,
    readTx: (raw) => splitTx(raw).tx,
    decode: (raw) => decodeBlock(raw, network.byronEpochSlots),
    verify: (block) => verifyBody(block as CardanoBlock),
    isFirst: (block) => block.height === 0,
    transition: (before, block) => transition(network, genesis, before, block),
    readOutput: storedOutput,
    headers: { inExtra: () => undefined, read: (header, era) => readFacts(network, header, era) },
    setHash: cardanoSetHash,
    leaf: cardanoLeaf,
    findKeys,
    ownerKey,
  };
}

/** A Byron output has its address as an array, all others as bytes. */
function storedOutput(raw: Uint8Array, start: number, end: number): Create {
  const look = new Cursor(raw, start, end);
  if (look.peek() === MAP) return output(new Cursor(raw, start, end), 0, 0);
  look.array();
  return look.peek() === ARRAY ? byronOutput(new Cursor(raw, start, end), 0, 0) : output(new Cursor(raw, start, end), 0, 0);
}

function readFacts(network: CardanoNetwork, bytes: Uint8Array, era: number): HeaderFacts {
  const c = new Cursor(bytes);
  const header = bareHeaderAt(c, era, network.byronEpochSlots);
  if (c.at !== bytes.length) c.fail('bytes behind the header');
  const { height, slot, boundary, hash, prevHash, issuer } = header;
  checkEra(network, { era, slot, hash });
  return { hash, prevHash, place: { height, slot, boundary }, extra: issuer };
}

function transition(network: CardanoNetwork, genesis: Genesis | null, before: PreviousBlock | undefined, block: Block): Transition | null {
  if (before === undefined || before.era !== block.era) checkEra(network, block);
  if (before === undefined) return block.height === 0 ? { grants: firstGrants(network, genesis, block), drops: null } : null;
  if (before.era === block.era) return null;
  const leavesByron = before.era <= ERA.byron && block.era >= ERA.shelley;
  const entersAllegra = before.era < ERA.allegra && block.era >= ERA.allegra;
  if (!leavesByron && !entersAllegra) return null;
  return {
    grants: [],
    drops: (raw, start, end) => (leavesByron && isZeroOutput(raw, start, end)) || (entersAllegra && isRedeemOutput(raw, start, end)),
  };
}

/** Where a network's eras began is known: a block of another era at that slot is another network's. */
function checkEra({ name, eraStartSlots }: CardanoNetwork, { era, slot, hash }: Pick<Block, 'era' | 'slot' | 'hash'>): void {
  const starts = ERA_NAMES.map((eraOf) => eraStartSlots[eraOf]);
  const at = Math.max(0, era - 1);
  const [first, next] = [starts[at], starts[at + 1]];
  if ((first === undefined || slot >= first) && (next === undefined || slot < next)) return;
  const message = `block ${toHex(hash)} of era ${eraName(era)} at slot ${slot} cannot be of '${name}'`;
  throw new UnspentError('NETWORK_WRONG', message, { era, slot, network: name });
}

/** Genesis outputs as they are after all the eras the chain begins beyond. */
function firstGrants(network: CardanoNetwork, genesis: Genesis | null, block: Block): readonly GenesisOutput[] {
  if (genesis === null) {
    throw new UnspentError('GENESIS_NEEDED', `the genesis of '${network.name}' is not built in, and the chain begins with it`);
  }
  const { byron, shelley } = genesis.utxos;
  if (block.era <= ERA.byron) {
    if (genesis.byronHash !== null && block.prevHash !== null && !equalBytes(genesis.byronHash, block.prevHash)) {
      const [ours, theirs] = [toHex(genesis.byronHash), toHex(block.prevHash)];
      throw new UnspentError('GENESIS_WRONG', `the chain begins with genesis ${theirs}, the genesis given is ${ours}`);
    }
    return byron;
  }
  const kept = byron.filter(
    ({ raw, create }) =>
      !isZeroOutput(raw, create.start, create.end) && !(block.era >= ERA.allegra && isRedeemOutput(raw, create.start, create.end)),
  );
  return [...kept, ...shelley];
}

/** CIP-19: the high half of the first byte is the kind; base addresses carry both credentials, Byron's none. */
export function findKeys(raw: Uint8Array, { start, addressStart, addressEnd }: Create, keys: OutputKeys): void {
  blake2b224Into(raw, addressStart, addressEnd, keys.made, 0);
  const kind = raw[addressStart] >> 4;
  const length = addressEnd - addressStart;
  keys.mask = MASK.address;
  keys.places[0] = 0;
  if (kind > 7 || length < 1 + KEY_BYTES) return;
  keys.mask |= MASK.payment;
  keys.places[1] = addressStart + 1 - start;
  if (kind > 3 || length < 1 + 2 * KEY_BYTES) return;
  keys.mask |= MASK.stake;
  keys.places[2] = addressStart + 1 + KEY_BYTES - start;
}

/** The key of the owner of an output (`Ledger.ownerKey`): BLAKE2b-224 of the address. */
export function ownerKey(raw: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  const c = new Cursor(raw, start, end);
  findAddress(c);
  blake2b224Into(raw, c.start, c.stop, to, at);
}
