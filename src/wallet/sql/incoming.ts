/**
 * A transaction comes in: made here, seen in the mempool, or seen in a block.
 * The row first, then whoever is in its way, then its credits and the stored
 * children that spend them, then the coins that it spends. All on the graph: the
 * checks of the call alone (`checkNewTx`) and of its block were made before.
 */

import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { refusal } from '../rules/failures.ts';
import { FROZEN_LEASE_ID, type LabelsOfTxs } from '../rules/labels.ts';
import { ownersOf } from '../rules/ownership.ts';
import { effectOnRow, type RowEffect } from '../rules/status.ts';
import type { NewTx } from '../store.ts';
import { endBranch } from './branch.ts';
import { type CreditNode, type InputNode, inputNodes, type TxGraph, type TxNode } from './graph.ts';
import type { OwnerRow } from './owners.ts';
import { holdingBytes } from './tx-outputs.ts';

/** What is known beside the graph of transactions that come in. */
export interface IncomingKnown {
  /** By script, in hex. */
  readonly owners: ReadonlyMap<string, OwnerRow>;
  readonly labels: LabelsOfTxs;
}

export function takeIn(graph: TxGraph, known: IncomingKnown, news: NewTx): void {
  const stored = graph.nodes.get(toHex(news.tx.id));
  const effect = stored === undefined ? 'insert' : effectOnRow(stored, news);
  if (effect === 'ignore') return;
  const node = stored ?? newNode(graph, known, news);
  if (stored === undefined) {
    graph.add(node);
    graph.tell({ kind: 'tx.added', txId: node.txId, status: node.status });
    if (news.block !== undefined) graph.confirm(node, news.block);
  } else {
    changeNode(graph, node, effect as RowEffect, news);
  }
  if (effect === 'reactivate') refuseRivals(graph, node, news.replace === true);
  if (news.replace === true || (news.block !== undefined && effect !== 'fill')) replaceRivals(graph, node, news.received);
  attachChildren(graph, addCredits(graph, known, node, news), news.received);
  claimInputs(graph, node);
}

function newNode(graph: TxGraph, { labels }: IncomingKnown, news: NewTx): TxNode {
  const { tx, status } = news;
  const key = toHex(tx.id);
  return {
    key,
    txId: tx.id,
    rowId: null,
    place: graph.nextPlace(),
    isCoinbase: tx.isCoinbase,
    scriptsFailed: tx.scriptsFailed ?? false,
    label: news.label ?? labels.labelOf(key) ?? '',
    isEvicted: false,
    inputs: inputNodes(tx.inputs),
    status,
    block: null,
    confirmedOrder: null,
    isChanged: true,
    news,
  };
}

function changeNode(graph: TxGraph, node: TxNode, effect: RowEffect, { block, tx }: NewTx): void {
  if (effect === 'publish') graph.setStatus(node, 'published', 'broadcast');
  if (effect === 'reactivate') graph.setStatus(node, 'published', 'reactivated');
  if (effect === 'move' && tx.outputs.some((_, index) => graph.credits.get(`${node.key}#${index}`)?.spender)) {
    throw refusal.txExists(node.txId, 'is a coinbase that a later block has again, and some of it is spent');
  }
  if ((effect === 'confirm' || effect === 'move') && block !== undefined) graph.confirm(node, block);
}

const rivals = (graph: TxGraph, node: TxNode, outpoint: string): TxNode[] => graph.liveSpenders(outpoint).filter((other) => other !== node);

/** Unmined rows that spend what it spends are replaced by it. One that is in no block itself cannot replace one that is. */
function replaceRivals(graph: TxGraph, winner: TxNode, createdAt: number): void {
  const victims = new Set<TxNode>();
  for (const { text, outpoint } of winner.inputs) {
    for (const rival of rivals(graph, winner, text)) {
      if (rival.block === null) victims.add(rival);
      else if (winner.block === null) throw refusal.inputConflict(outpoint);
    }
  }
  if (victims.size > 0) endBranch(graph, [...victims], { kind: 'replaced', winner, createdAt });
}

/** What was dead lives again only where nothing that lives spends the same, or, if it may replace, nothing that the mempool has. */
function refuseRivals(graph: TxGraph, node: TxNode, mayReplace: boolean): void {
  for (const { text, outpoint } of node.inputs)
    for (const rival of rivals(graph, node, text)) if (!(mayReplace && rival.isEvicted)) throw refusal.inputConflict(outpoint);
}

/** Records those that are not there yet, and returns them. */
function addCredits(graph: TxGraph, { owners, labels }: IncomingKnown, node: TxNode, news: NewTx): CreditNode[] {
  const added: CreditNode[] = [];
  for (const [index, owner] of ownersOf(news, (script) => owners.get(toHex(script)))) {
    const outpoint: Outpoint = { txId: node.txId, index };
    const text = outpointText(outpoint);
    if (graph.credits.has(text)) continue;
    const output = news.tx.outputs[index];
    const { amount, script } = output;
    const holding = holdingBytes(output);
    const isFrozen = labels.isFrozen(text);
    const credit: CreditNode = {
      rowId: null,
      outpoint,
      text,
      amount,
      parent: node,
      spender: null,
      storedSpender: null,
      news: {
        addressRowId: owner.rowId,
        script: equalBytes(script, owner.script) ? null : script,
        holding: holding.length === 0 ? null : holding,
        isFrozen,
      },
    };
    graph.credits.set(text, credit);
    graph.tell({ kind: 'utxo.created', outpoint, amount });
    if (isFrozen) graph.tell({ kind: 'lease.acquired', outpoint, leaseId: FROZEN_LEASE_ID });
    added.push(credit);
  }
  return added;
}

/** Children that were stored before their parent now spend its credits. All are checked before any is changed. */
function attachChildren(graph: TxGraph, credits: readonly CreditNode[], createdAt: number): void {
  for (const { text, outpoint } of credits) {
    const spenders = graph.liveSpenders(text);
    const confirmed = spenders.filter(({ block }) => block !== null).length;
    if (confirmed > 1 || (confirmed === 0 && spenders.length > 1)) throw refusal.inputConflict(outpoint);
  }
  for (const credit of credits) {
    const spenders = graph.liveSpenders(credit.text);
    const holder = spenders.find(({ block }) => block !== null) ?? spenders[0];
    if (holder === undefined) continue;
    const victims = spenders.filter((node) => node !== holder);
    if (victims.length > 0) endBranch(graph, victims, { kind: 'replaced', winner: holder, createdAt });
    const input = holder.inputs.find(({ text }) => text === credit.text);
    if (input !== undefined) claimCoin(graph, holder, input);
  }
}

function claimInputs(graph: TxGraph, node: TxNode): void {
  for (const input of node.inputs) claimCoin(graph, node, input);
}

/** Throws PARENT_DEAD, INPUT_CONFLICT. An outpoint that is no credit is somebody else's. */
function claimCoin(graph: TxGraph, { key }: TxNode, { text, outpoint, index }: InputNode): void {
  const credit = graph.credits.get(text);
  if (credit === undefined || credit.spender?.key === key) return;
  if (!graph.isParentLive(credit)) throw refusal.parentDead(outpoint);
  if (credit.spender !== null) throw refusal.inputConflict(outpoint);
  graph.setSpender(credit, { key, input: index });
}
