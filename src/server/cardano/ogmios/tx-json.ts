/**
 * A transaction, in a block or not, as Ogmios 6 writes it, with its CBOR. Left out are
 * updates of parameters from before Conway (their bytes are in the CBOR), and the
 * signatures of Byron. docs/reference/ogmios.md says so.
 */
import { blake2b256 } from '../../../crypto/hash.ts';
import type { Asset } from '../../../ledgers/asset.ts';
import { formatAddress, type OutRef, type Redeemer } from '../../../ledgers/cardano/index.ts';
import { type Metadatum, readMetadata, readMetadatum } from '../../../ledgers/cardano/metadata.ts';
import { readSignatories, type Signatory } from '../../../ledgers/cardano/signatures.ts';
import { readTxWitnesses } from '../../../ledgers/cardano/witnesses.ts';
import type { Witness } from '../../../ledgers/ledger.ts';
import { outpointKey } from '../../../ledgers/outpoint.ts';
import { type DescribedHistoryTx, describeHistoryTx } from '../../../query/cardano/transactions.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { HistoryTx } from '../../../query/history.ts';
import { compareBytes } from '../../../util/bytes.ts';
import { whereReadable } from '../where-readable.ts';
import { certificatesJson } from './certificates-json.ts';
import { proposalJson, votesJson } from './governance-json.ts';
import type { JsonValue } from './json-text.ts';
import { assetsJson, describedOutputJson } from './outputs-json.ts';
import { ada } from './parameters-json.ts';
import { scriptJson } from './script-json.ts';

type Fields = Record<string, JsonValue | undefined>;

/** CDDL: `redeemer_tag`, in the words of Ogmios. */
const PURPOSES = ['spend', 'mint', 'publish', 'withdraw', 'vote', 'propose'];
const NETWORKS = ['testnet', 'mainnet'];

export function txJson(stored: Pick<HistoryTx, 'id' | 'raw'>): JsonValue {
  const tx = describeHistoryTx(stored);
  const { body } = tx;
  return {
    id: hexOf(stored.id),
    spends: tx.valid ? 'inputs' : 'collaterals',
    inputs: refsJson(body.inputs),
    outputs: body.outputs.map(describedOutputJson),
    ...(tx.isByron ? { signatories: [] } : { ...bodyJson(tx), ...witnessJson(tx) }),
    cbor: hexOf(stored.raw),
  };
}

function bodyJson({ body }: DescribedHistoryTx): Fields {
  const { validFrom, validUntil, treasury, donation } = body;
  return {
    references: unlessEmpty(refsJson(body.referenceInputs)),
    collaterals: unlessEmpty(refsJson(body.collateral)),
    totalCollateral: body.totalCollateral === null ? undefined : ada(body.totalCollateral),
    collateralReturn: body.collateralReturn === null ? undefined : describedOutputJson(body.collateralReturn),
    certificates: unlessEmpty(certificatesJson(body.certificates)),
    withdrawals: withdrawalsJson(body.withdrawals),
    fee: ada(body.fee),
    validityInterval: { invalidBefore: validFrom ?? undefined, invalidAfter: validUntil ?? undefined },
    mint: body.mint.length === 0 ? undefined : assetsJson(nonZero(body.mint)),
    network: body.networkId === null ? undefined : NETWORKS[body.networkId],
    scriptIntegrityHash: body.scriptDataHash === null ? undefined : hexOf(body.scriptDataHash),
    requiredExtraSignatories: unlessEmpty(body.requiredSigners.map(hexOf)),
    proposals: unlessEmpty(body.proposals.map(proposalJson)),
    votes: unlessEmpty(votesJson(body.votes)),
    treasury:
      treasury === null && donation === 0n
        ? undefined
        : { value: treasury === null ? undefined : ada(treasury), donation: donation === 0n ? undefined : ada(donation) },
  };
}

function witnessJson({ witnesses, auxiliary, redeemers }: DescribedHistoryTx): Fields {
  const found = readTxWitnesses(witnesses, auxiliary);
  const all = [...found.witnesses, ...found.auxiliary];
  return {
    requiredExtraScripts: unlessEmpty(found.auxiliary.map(({ item }) => hexOf(item.hash))),
    metadata: auxiliary === null ? undefined : metadataJson(auxiliary),
    signatories: readSignatories(witnesses).map(signatoryJson),
    scripts: byHash(all, 'script', scriptJson),
    datums: byHash(all, 'datum', hexOf),
    redeemers: unlessEmpty(redeemers.map(redeemerJson)),
  };
}

/** Those of one kind by their hashes; undefined: there is none. */
function byHash(witnesses: readonly Witness[], kind: Witness['kind'], write: (bytes: Uint8Array) => JsonValue): JsonValue | undefined {
  const items = witnesses.filter((each) => each.kind === kind).map(({ item }) => [hexOf(item.hash), write(item.bytes)] as const);
  return items.length === 0 ? undefined : Object.fromEntries(items);
}

function refsJson(refs: readonly OutRef[]): JsonValue[] {
  // Sets of the ledger are sorted, and redeemers count them so.
  const sorted = refs.toSorted((a, b) => compareBytes(outpointKey(a.txId, a.index), outpointKey(b.txId, b.index)));
  return sorted.map(({ txId, index }) => ({ transaction: { id: hexOf(txId) }, index }));
}

function withdrawalsJson(withdrawals: DescribedHistoryTx['body']['withdrawals']): JsonValue | undefined {
  if (withdrawals.length === 0) return undefined;
  return Object.fromEntries(withdrawals.map(({ account, lovelace }) => [formatAddress(account), ada(lovelace)]));
}

function nonZero(assets: readonly Asset[]): Asset[] {
  return assets.filter(({ quantity }) => quantity !== 0n);
}

function signatoryJson({ key, signature, chainCode, attributes }: Signatory): JsonValue {
  return {
    key: hexOf(key),
    signature: hexOf(signature),
    chainCode: chainCode === null || chainCode.length === 0 ? undefined : hexOf(chainCode),
    addressAttributes: attributes === null || attributes.length === 0 ? undefined : hexOf(attributes),
  };
}

function redeemerJson({ tag, index, data, memory, steps }: Redeemer): JsonValue {
  return { redeemer: hexOf(data), executionUnits: { memory, cpu: steps }, validator: { purpose: PURPOSES[tag] ?? `${tag}`, index } };
}

function metadataJson(auxiliary: Uint8Array): JsonValue {
  const labels = readMetadata(auxiliary).map(({ label, value }) => {
    // Nested too deep, it is given as CBOR alone.
    const json = whereReadable(() => plainJson(readMetadatum(value)));
    return [label.toString(), json === null ? { cbor: hexOf(value) } : { json }] as const;
  });
  return { hash: hexOf(blake2b256(auxiliary)), labels: Object.fromEntries(labels) };
}

/** As JSON where that loses nothing: without bytes, and with keys that are numbers or texts. Null: it would. */
function plainJson(item: Metadatum): JsonValue | null {
  switch (item.kind) {
    case 'int':
    case 'text':
      return item.value;
    case 'bytes':
      return null;
    case 'list': {
      const items = item.items.map(plainJson);
      return items.includes(null) ? null : items;
    }
    case 'map': {
      const entries = item.entries.map(([key, value]) => [keyText(key), plainJson(value)] as const);
      return entries.some(([key, value]) => key === null || value === null) ? null : Object.fromEntries(entries);
    }
  }
}

function keyText(key: Metadatum): string | null {
  return key.kind === 'int' || key.kind === 'text' ? key.value.toString() : null;
}

function unlessEmpty(list: readonly JsonValue[]): readonly JsonValue[] | undefined {
  return list.length === 0 ? undefined : list;
}
