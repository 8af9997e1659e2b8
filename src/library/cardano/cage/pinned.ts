/**
 * A store that keeps cages, at one block: what every read of a cage context is a
 * body over.
 */
import type { Reader } from '../../../engine/engine.ts';
import type { CageDeployment } from '../../../ledgers/cardano/cage/index.ts';
import { PUBLIC_CAGES, parseCageDeployments } from '../../../ledgers/cardano/cage/index.ts';
import { CAGE, cageColumns, DEPLOYMENTS_KEY } from '../../../projections/cardano/cage/rows.ts';
import { UNSPENT } from '../../../projections/utxo.ts';
import { CageQuery, type CageToken } from '../../../query/cardano/cage.ts';
import { type PointJson, renderPoint } from '../../../query/render.ts';
import type { OpenStore } from '../../../store/store.ts';
import { UnspentError } from '../../../util/errors.ts';
import { type PinnedRead, pinRead } from '../../pinned-read.ts';
import { findToken } from './documents.ts';

/** Cages at one block. */
export interface PinnedCages {
  readonly pinned: PinnedRead;
  readonly cages: CageQuery;
  readonly reader: Reader;
  /** The block; null before the first one. */
  readonly checkpoint: PointJson | null;
  readonly deployments: readonly CageDeployment[];
  /** Throws USAGE. */
  find(token: string): CageToken | null;
  /** Throws USAGE, NOT_FOUND. */
  need(token: string): CageToken;
  release(): void;
}

/** Runs a body over cages at one block: the newest, or that of a view. */
export interface CageReading {
  read<T>(body: (at: PinnedCages) => T): T;
  /** For what reads later; the caller releases it. */
  pin(): PinnedCages;
}

const COLUMNS = [...cageColumns.map(({ name }) => name), UNSPENT];

/** Throws UNSUPPORTED when the store keeps no cages. */
export function pinCages(store: OpenStore): PinnedCages {
  const pinned = pinRead(store);
  const { query, dialect } = pinned;
  const reader = query.rowsOf(COLUMNS);
  const cages = new CageQuery(reader);
  const deployments = deploymentsIn(reader);
  const policies = deployments.map(({ stateScriptHash }) => stateScriptHash);
  const find = (token: string): CageToken | null => findToken(cages, policies, token);
  const need = (token: string): CageToken => {
    const found = find(token);
    if (found === null) throw new UnspentError('NOT_FOUND', `there is no token ${token}`, { token });
    return found;
  };
  const checkpoint = renderPoint(query.head, dialect);
  return { pinned, cages, reader, checkpoint, deployments, find, need, release: () => query.release() };
}

/** A store says which cages it follows in its first batch. */
function deploymentsIn(reader: Reader): readonly CageDeployment[] {
  const row = reader.get(CAGE, DEPLOYMENTS_KEY);
  return row === undefined ? PUBLIC_CAGES : parseCageDeployments(new TextDecoder().decode(row));
}

export function readingNow(store: OpenStore): CageReading {
  const pin = (): PinnedCages => pinCages(store);
  return {
    pin,
    read<T>(body: (at: PinnedCages) => T): T {
      const at = pin();
      try {
        return body(at);
      } finally {
        at.release();
      }
    },
  };
}
