/**
 * Tells when the trie of a token parts from its root on chain, and when the two
 * agree again, which a rollback brings about or a later update does: one line
 * each, in words for people and fields for programs. Status, metrics and health
 * say how it is; this says when it happened.
 *
 * It looks after each commit. That costs one row while no token diverges.
 */
import { outpointText } from '../../ledgers/outpoint.ts';
import { CAGE } from '../../projections/cardano/cage/rows.ts';
import { CageQuery, type CageToken } from '../../query/cardano/cage.ts';
import type { FoldWatcher } from '../../state/fold.ts';
import { toHex } from '../../util/bytes.ts';
import type { OpenStore } from '../store.ts';

type Watched = Pick<OpenStore, 'fold' | 'engine'>;

/** Begins to tell; returns how to stop. What diverged before is not told again. Nothing is told where a store keeps no cages. */
export function watchDivergence({ fold, engine }: Watched, tell: (line: string) => void): () => void {
  if (!fold.projections.some(({ name }) => name === CAGE)) return () => undefined;
  const cages = new CageQuery(engine);
  let known = divergedIn(cages);
  const look = (by: 'block' | 'rollback'): void => {
    const now = divergedIn(cages);
    const place = fold.head === null ? 'height=none' : `height=${fold.head.height} slot=${fold.head.slot}`;
    for (const [name, token] of now) {
      if (known.get(name)?.status !== token.status)
        tell(`cage diverged: token=${name} status=${token.status} ${stateText(token)} by=${by} ${place}`);
    }
    for (const [name, before] of known) {
      if (now.has(name)) continue;
      const token = cages.token(before.id);
      if (token === null) tell(`cage ended: token=${name} which had diverged by=${by} ${place}`);
      else tell(`cage healed: token=${name} status=${token.status} ${stateText(token)} by=${by} ${place}`);
    }
    known = now;
  };
  const watcher: FoldWatcher = { applied: () => look('block'), rolledBack: () => look('rollback') };
  fold.watchers.add(watcher);
  return () => fold.watchers.delete(watcher);
}

/** Tokens whose trie is not what their root commits to, by `POLICY.NAME`. */
function divergedIn(cages: CageQuery): ReadonlyMap<string, CageToken> {
  if (cages.counters().diverged === 0) return NONE;
  const away = [...cages.tokens()].filter(({ status }) => status !== 'consistent');
  return new Map(away.map((token) => [`${toHex(token.id.policy)}.${toHex(token.id.name)}`, token]));
}

const NONE: ReadonlyMap<string, CageToken> = new Map();

function stateText({ state, txId, index }: CageToken): string {
  return `root=${toHex(state.root)} output=${outpointText({ txId, index })}`;
}
