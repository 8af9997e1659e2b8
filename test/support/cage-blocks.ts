/**
 * Blocks with transactions that run scripts of cages, from plain descriptions: the
 * form of `cage-scenario.json`. Bytes are real and are decoded by the real
 * ledger; where a description gives a transaction an id, it has that one
 * instead of its hash.
 */
import { type Issuer, makeIssuer, sealBlock } from '../../src/chains/cardano/devnet/blocks.ts';
import { DEFAULT_FEATURES, ShapeCount } from '../../src/chains/cardano/devnet/features.ts';
import { Random } from '../../src/chains/random.ts';
import { blake2b256 } from '../../src/crypto/hash.ts';
import { type CardanoTx, cardanoLedger } from '../../src/ledgers/cardano/index.ts';
import { cardanoNetwork } from '../../src/ledgers/cardano/networks.ts';
import type { Block, Point } from '../../src/ledgers/ledger.ts';
import { compareBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';

export const cageLedger = cardanoLedger(cardanoNetwork('devnet'), null);

export interface DrawnOutput {
  /** `script:HASH` or `key:HASH`, or the address in hex. */
  readonly address: string;
  readonly value: { readonly lovelace: number; readonly assets?: Readonly<Record<string, number>> };
  /** CBOR in hex. */
  readonly inlineDatum?: string;
}

export interface DrawnTx {
  readonly id?: string;
  readonly isValid?: boolean;
  /** `TXID#INDEX`, in any order. */
  readonly inputs: readonly string[];
  readonly outputs: readonly DrawnOutput[];
  readonly mint?: Readonly<Record<string, number>>;
  readonly collateral?: readonly string[];
  readonly referenceInputs?: readonly string[];
  /** CBOR in hex, by input and by policy. */
  readonly redeemers?: { readonly spend?: Readonly<Record<string, string>>; readonly mint?: Readonly<Record<string, string>> };
}

const KEY = { inputs: 0, outputs: 1, fee: 2, mint: 9, collateral: 13, references: 18 } as const;
const CONWAY = 7;

export function refBytes(ref: string): { readonly txId: Uint8Array; readonly index: number } {
  const [txId, index] = ref.split('#');
  return { txId: fromHex(txId, 32), index: Number(index) };
}

/** In the order in which redeemers count inputs. */
export function sortedRefs(refs: readonly string[]): string[] {
  return [...refs].sort((a, b) => compareBytes(refBytes(a).txId, refBytes(b).txId) || refBytes(a).index - refBytes(b).index);
}

function addressBytes(text: string): Uint8Array {
  const [kind, hash] = text.split(':');
  return hash === undefined ? fromHex(text) : fromHex(`${kind === 'script' ? '70' : '60'}${hash}`);
}

function writeRefs(w: CborWriter, refs: readonly string[], random: Random): void {
  if (random.chance(0.5)) w.tag(258);
  w.array(refs.length);
  for (const ref of refs) w.array(2).bytes(refBytes(ref).txId).uint(refBytes(ref).index);
}

function writeAssets(w: CborWriter, assets: Readonly<Record<string, number>>): void {
  const policies = new Map<string, [string, number][]>();
  for (const [unit, quantity] of Object.entries(assets)) {
    const [policy, name] = unit.split('.');
    policies.set(policy, [...(policies.get(policy) ?? []), [name, quantity]]);
  }
  w.map(policies.size);
  for (const [policy, names] of policies) {
    w.bytes(fromHex(policy)).map(names.length);
    for (const [name, quantity] of names) w.bytes(fromHex(name)).int(BigInt(quantity));
  }
}

/** A plain output in either form; one with a datum as a map, whose fields may stand in any order. */
function writeOutput(w: CborWriter, { address, value, inlineDatum }: DrawnOutput, random: Random): void {
  const writeValue = (): void => {
    if (value.assets === undefined) w.uint(value.lovelace);
    else writeAssets(w.array(2).uint(value.lovelace), value.assets);
  };
  if (inlineDatum === undefined && random.chance(0.5)) {
    w.array(2).bytes(addressBytes(address));
    writeValue();
    return;
  }
  const fields: (() => void)[] = [
    () => w.uint(0).bytes(addressBytes(address)),
    () => {
      w.uint(1);
      writeValue();
    },
  ];
  if (inlineDatum !== undefined) fields.push(() => w.uint(2).array(2).uint(1).encoded(fromHex(inlineDatum)));
  if (random.chance(0.2)) random.shuffle(fields);
  const open = random.chance(0.2);
  if (open) w.startMap();
  else w.map(fields.length);
  for (const write of fields) write();
  if (open) w.end();
}

export function encodeTx(tx: DrawnTx, random: Random): Uint8Array {
  const w = new CborWriter(65_536);
  const { inputs, outputs, mint, collateral, referenceInputs } = tx;
  const count = 3 + [mint, collateral, referenceInputs].filter((each) => each !== undefined).length;
  w.map(count).uint(KEY.inputs);
  writeRefs(w, inputs, random);
  w.uint(KEY.outputs).array(outputs.length);
  for (const output of outputs) writeOutput(w, output, random);
  w.uint(KEY.fee).uint(200_000);
  if (mint !== undefined) writeAssets(w.uint(KEY.mint), mint);
  if (collateral !== undefined) writeRefs(w.uint(KEY.collateral), collateral, random);
  if (referenceInputs !== undefined) writeRefs(w.uint(KEY.references), referenceInputs, random);
  return w.take().slice();
}

/** As a list, or since Conway as a map. */
function encodeWitnesses({ inputs, mint = {}, redeemers = {} }: DrawnTx, random: Random): Uint8Array {
  const sorted = sortedRefs(inputs);
  const policies = [...new Set(Object.keys(mint).map((unit) => unit.split('.')[0]))].sort();
  const entries = [
    ...Object.entries(redeemers.spend ?? {}).map(([ref, data]) => [0, sorted.indexOf(ref), data] as const),
    ...Object.entries(redeemers.mint ?? {}).map(([policy, data]) => [1, policies.indexOf(policy), data] as const),
  ];
  const w = new CborWriter(65_536);
  if (entries.length === 0) return w.map(0).take().slice();
  const asMap = random.chance(0.5);
  w.map(1).uint(5);
  if (asMap) w.map(entries.length);
  else w.array(entries.length);
  for (const [tag, index, data] of entries) {
    if (asMap) w.array(2).uint(tag).uint(index).array(2).raw(fromHex(data)).array(2).uint(1).uint(2);
    else w.array(4).uint(tag).uint(index).raw(fromHex(data)).array(2).uint(1).uint(2);
  }
  return w.take().slice();
}

/** Makes blocks that follow one another. */
export class CageBlocks {
  readonly random: Random;
  private readonly issuer: Issuer;

  constructor(seed: number) {
    this.random = new Random(seed, 77);
    this.issuer = makeIssuer(this.random);
  }

  /** The transaction with its id. */
  encode(tx: DrawnTx): { readonly body: Uint8Array; readonly id: string } {
    const body = encodeTx(tx, this.random);
    return { body, id: tx.id ?? toHex(blake2b256(body)) };
  }

  /** `bodies`: those of the transactions where they were encoded before. */
  block(before: Point | null, slot: number, txs: readonly DrawnTx[], bodies = txs.map((tx) => this.encode(tx).body)): Block {
    const attached = new Map(txs.map((tx, i) => [i, { witnesses: encodeWitnesses(tx, this.random), auxiliary: null }]));
    const invalid = txs.flatMap((tx, i) => (tx.isValid === false ? [i] : []));
    const place = { era: CONWAY, height: before === null ? 1 : before.height + 1, slot, prevHash: before?.hash ?? null };
    const shop = { random: this.random, features: DEFAULT_FEATURES, shapes: new ShapeCount() };
    const block = cageLedger.decode(sealBlock(shop, place, this.issuer, { bodies, invalid, attached }).raw.slice());
    txs.forEach(({ id }, i) => {
      if (id !== undefined) (block.txs[i] as CardanoTx).id = fromHex(id, 32);
    });
    return block;
  }
}
