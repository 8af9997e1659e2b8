/**
 * Transactions as UTxO RPC writes them: what they name is resolved where the
 * store still has it, and each redeemer stands with what it is for. Inputs and
 * outputs are those of the body; whether they took effect is in `successful`.
 */
import type { cardano } from '@utxorpc/spec/lib/index.mjs';
import { readCertificate } from '../../../../ledgers/cardano/certificates.ts';
import { readScriptRef } from '../../../../ledgers/cardano/describe.ts';
import { readProposal } from '../../../../ledgers/cardano/governance.ts';
import type { Redeemer } from '../../../../ledgers/cardano/index.ts';
import { type Metadatum, readMetadata, readMetadatum } from '../../../../ledgers/cardano/metadata.ts';
import { readSignatories } from '../../../../ledgers/cardano/signatures.ts';
import { readTxWitnesses } from '../../../../ledgers/cardano/witnesses.ts';
import type { Witness } from '../../../../ledgers/ledger.ts';
import { outpointKey } from '../../../../ledgers/outpoint.ts';
import { describeStored } from '../../../../query/cardano/describe-stored.ts';
import type { DescribedHistoryTx, ResolvedContent, ResolvedInput } from '../../../../query/cardano/transactions.ts';
import { compareBytes } from '../../../../util/bytes.ts';
import { whereReadable } from '../../where-readable.ts';
import { certificateMessage } from './certificate-message.ts';
import { proposalMessage } from './governance-message.ts';
import type { MessageInit } from './message-init.ts';
import { INT64 } from './numbers.ts';
import { byPolicy, outputMessage } from './output-message.ts';
import { dataMessage, scriptMessage } from './plutus-message.ts';

/** CDDL: `redeemer_tag`. The enumeration of UTxO RPC counts from 1. */
const PURPOSE = { spend: 0, mint: 1, certificate: 2, withdrawal: 3 } as const;

type TxMessage = MessageInit<cardano.Tx>;

/** Throws STORE_DAMAGED. */
export function txMessage(tx: ResolvedContent): TxMessage {
  const { body } = tx;
  const redeemers = new RedeemersOf(tx);
  return {
    inputs: tx.inputs.map((input) => ({ ...inputMessage(input), redeemer: redeemers.spending(input) })),
    outputs: body.outputs.map(outputMessage),
    certificates: body.certificates.map((bytes, i) => ({
      certificate: whereReadable(() => certificateMessage(readCertificate(bytes))) ?? undefined,
      redeemer: redeemers.at(PURPOSE.certificate, i),
    })),
    withdrawals: body.withdrawals.map(({ account, lovelace }) => ({
      rewardAccount: account,
      coin: lovelace,
      redeemer: redeemers.withdrawing(account),
    })),
    mint: byPolicy(body.mint).map(([policyId, assets]) => ({
      policyId,
      assets: assets.map(({ name, quantity }) => ({ name, mintCoin: quantity })),
      redeemer: redeemers.minting(policyId),
    })),
    referenceInputs: tx.referenceInputs.map(inputMessage),
    witnesses: tx.isByron ? undefined : witnessMessage(tx),
    collateral: {
      collateral: tx.collateral.map(inputMessage),
      collateralReturn: body.collateralReturn === null ? undefined : outputMessage(body.collateralReturn),
      totalCollateral: body.totalCollateral ?? undefined,
    },
    // Of Byron the fee is what is left over, if that is known.
    fee: tx.isByron ? (tx.fee ?? undefined) : body.fee,
    validity: { start: body.validFrom ?? undefined, ttl: body.validUntil ?? undefined },
    successful: tx.valid,
    auxiliary: auxiliaryMessage(tx),
    hash: tx.id,
    proposals: body.proposals.map((bytes) => whereReadable(() => proposalMessage(readProposal(bytes))) ?? {}),
  };
}

function inputMessage({ txId, index, utxo }: ResolvedInput): MessageInit<cardano.TxInput> {
  return {
    txHash: txId,
    outputIndex: index,
    asOutput: utxo === null ? undefined : outputMessage(describeStored(txId, index, utxo.output.raw)),
  };
}

/** The redeemers of a transaction by what they are for, which they count as the ledger sorts it. */
class RedeemersOf {
  private readonly redeemers: readonly Redeemer[];
  private readonly tx: ResolvedContent;

  constructor(tx: ResolvedContent) {
    this.tx = tx;
    this.redeemers = tx.redeemers;
  }

  at(tag: number, index: number): MessageInit<cardano.Redeemer> | undefined {
    // Of two for the same the last one counts, as in the ledger's map.
    const found = this.redeemers.findLast((redeemer) => redeemer.tag === tag && redeemer.index === index);
    return found === undefined ? undefined : redeemerMessage(found);
  }

  spending(input: ResolvedInput): MessageInit<cardano.Redeemer> | undefined {
    return this.among(PURPOSE.spend, outpointKey(input.txId, input.index), () =>
      this.tx.inputs.map(({ txId, index }) => outpointKey(txId, index)),
    );
  }

  minting(policy: Uint8Array): MessageInit<cardano.Redeemer> | undefined {
    return this.among(PURPOSE.mint, policy, () => byPolicy(this.tx.body.mint).map(([each]) => each));
  }

  withdrawing(account: Uint8Array): MessageInit<cardano.Redeemer> | undefined {
    return this.among(PURPOSE.withdrawal, ledgerOrder(account), () => this.tx.body.withdrawals.map((each) => ledgerOrder(each.account)));
  }

  private among(tag: number, key: Uint8Array, keys: () => Uint8Array[]): MessageInit<cardano.Redeemer> | undefined {
    if (!this.redeemers.some((redeemer) => redeemer.tag === tag)) return undefined;
    return this.at(tag, keys().filter((each) => compareBytes(each, key) < 0).length);
  }
}

/** A reward account so that bytes are in the order of the ledger: by network, accounts of scripts before those of keys. */
function ledgerOrder(account: Uint8Array): Uint8Array {
  const [head, ...hash] = account;
  return Uint8Array.of(head & 0x0f, (head & 0x10) === 0 ? 1 : 0, ...hash);
}

export function redeemerMessage({ tag, index, data, memory, steps }: Redeemer): MessageInit<cardano.Redeemer> {
  return { purpose: tag + 1, payload: dataMessage(data), index, exUnits: { memory, steps }, originalCbor: data };
}

function witnessMessage({ witnesses, auxiliary }: DescribedHistoryTx): MessageInit<cardano.WitnessSet> {
  const found = readTxWitnesses(witnesses, auxiliary).witnesses;
  return {
    vkeywitness: readSignatories(witnesses).map(({ key, signature }) => ({ vkey: key, signature })),
    script: scriptsOf(found),
    plutusDatums: found.filter(({ kind }) => kind === 'datum').flatMap(({ item }) => dataMessage(item.bytes) ?? []),
  };
}

function auxiliaryMessage({ isByron, witnesses, auxiliary }: DescribedHistoryTx): MessageInit<cardano.AuxData> | undefined {
  if (auxiliary === null || isByron) return undefined;
  return {
    metadata: readMetadata(auxiliary).map(({ label, value }) => ({
      label,
      value: whereReadable(() => metadatumMessage(readMetadatum(value))) ?? undefined,
    })),
    scripts: scriptsOf(readTxWitnesses(witnesses, auxiliary).auxiliary),
  };
}

function scriptsOf(witnesses: readonly Witness[]): MessageInit<cardano.Script>[] {
  return witnesses.filter(({ kind }) => kind === 'script').flatMap(({ item }) => scriptMessage(readScriptRef(item.bytes)) ?? []);
}

/** An integer that does not fit into 64 bits with a sign is left out: the message has no room for it. */
function metadatumMessage(item: Metadatum): MessageInit<cardano.Metadatum> {
  switch (item.kind) {
    case 'int':
      return { metadatum: item.value < INT64.min || item.value > INT64.max ? { case: undefined } : { case: 'int', value: item.value } };
    case 'bytes':
      return { metadatum: { case: 'bytes', value: item.value } };
    case 'text':
      return { metadatum: { case: 'text', value: item.value } };
    case 'list':
      return { metadatum: { case: 'array', value: { items: item.items.map(metadatumMessage) } } };
    case 'map': {
      const pairs = item.entries.map(([key, value]) => ({ key: metadatumMessage(key), value: metadatumMessage(value) }));
      return { metadatum: { case: 'map', value: { pairs } } };
    }
  }
}
