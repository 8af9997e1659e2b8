/** The eras of a network as UTxO RPC writes them: when each begins and ends. Their parameters are not known here. */
import type { cardano } from '@utxorpc/spec/lib/index.mjs';
import { type CardanoNetwork, slotToEpoch } from '../../../../ledgers/cardano/index.ts';
import { ERA_NAMES } from '../../../../ledgers/cardano/networks.ts';
import { UnspentError } from '../../../../util/errors.ts';
import { timestampOf } from './backend.ts';
import type { MessageInit } from './message-init.ts';

/** Throws UNSUPPORTED for a private network, of which it is not known. */
export function eraMessages(network: CardanoNetwork): MessageInit<cardano.EraSummary>[] {
  const starts = ERA_NAMES.flatMap((name) => {
    const slot = network.eraStartSlots[name];
    return slot === undefined ? [] : [{ name, boundary: boundaryAt(network, slot) }];
  });
  if (starts.length === 0) throw new UnspentError('UNSUPPORTED', `when the eras of '${network.name}' began is not known here`);
  return starts.map(({ name, boundary }, i) => ({ name, start: boundary, end: starts[i + 1]?.boundary }));
}

function boundaryAt(network: CardanoNetwork, slot: number): MessageInit<cardano.EraBoundary> {
  return { time: timestampOf(network, slot), slot: BigInt(slot), epoch: BigInt(slotToEpoch(network, slot)) };
}
