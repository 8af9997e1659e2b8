/**
 * Lists of unspent outputs: by address, credential, stake, asset, policy, script
 * and datum. They differ in how a path names a key and share everything else:
 * pages, streams, forms.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TObject } from 'typebox';
import { type AssetId, parseUnit } from '../../../ledgers/asset.ts';
import { KEY_KINDS, type Ledger } from '../../../ledgers/ledger.ts';
import type { Dialect } from '../../../query/dialect.ts';
import { holdsAsset } from '../../../query/holds-asset.ts';
import type { IndexKind } from '../../../query/view.ts';
import type { ResponseBody } from '../../http/read-answer.ts';
import { joinRows, type RowFilter, RowStream } from '../../http/rows.ts';
import { makePage, type PageRows } from '../../http/slices.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers, ReadContext } from '../answer.ts';
import { encoderOf } from '../encode.ts';
import { addressKey, datumHashKey, hexBytes, paymentKey, stakeKey, unitKey } from '../keys.ts';
import { described } from '../openapi.ts';
import { announceNext, type PagePlan, planPage } from '../paging.ts';
import { listQuery, PATH, ref } from '../schemas.ts';

type Params = Readonly<Record<string, string>>;

interface ListRoute {
  readonly path: string;
  readonly params: TObject;
  readonly kind: IndexKind;
  readonly summary: string;
  key(params: Params, dialect: Dialect): Uint8Array;
  /** Only outputs that hold this. */
  asset?(params: Params): AssetId;
}

const LISTS: readonly ListRoute[] = [
  {
    path: '/addresses/:address/utxos',
    params: Type.Object({ address: PATH.address }),
    kind: 'address',
    summary: 'Unspent outputs of an address',
    key: ({ address }, dialect) => addressKey(address, dialect),
  },
  {
    path: '/addresses/:address/utxos/:asset',
    params: Type.Object({ address: PATH.address, asset: PATH.unit }),
    kind: 'address',
    summary: 'Unspent outputs of an address that hold an asset',
    key: ({ address }, dialect) => addressKey(address, dialect),
    asset: ({ asset }) => parseUnit(asset),
  },
  {
    path: '/credentials/:credential/utxos',
    params: Type.Object({ credential: PATH.credential }),
    kind: 'payment',
    summary: 'Unspent outputs of a payment credential',
    key: ({ credential }, dialect) => paymentKey(credential, dialect),
  },
  {
    path: '/stake/:stake/utxos',
    params: Type.Object({ stake: PATH.stake }),
    kind: 'stake',
    summary: 'Unspent outputs of a stake credential',
    key: ({ stake }, dialect) => stakeKey(stake, dialect),
  },
  {
    path: '/assets/:unit/utxos',
    params: Type.Object({ unit: PATH.unit }),
    kind: 'asset',
    summary: 'Unspent outputs that hold an asset',
    key: ({ unit }) => unitKey(unit),
  },
  {
    path: '/policies/:policy/utxos',
    params: Type.Object({ policy: PATH.policy }),
    kind: 'policy',
    summary: 'Unspent outputs that hold assets of a policy',
    key: ({ policy }) => hexBytes(policy),
  },
  {
    path: '/scripts/:hash/utxos',
    params: Type.Object({ hash: PATH.script }),
    kind: 'script',
    summary: 'Unspent outputs that carry a script for others to refer to',
    key: ({ hash }) => hexBytes(hash),
  },
  {
    path: '/datums/:hash/utxos',
    params: Type.Object({ hash: PATH.datum }),
    kind: 'datum',
    summary: 'Unspent outputs with a datum, inline or by its hash',
    key: ({ hash }) => datumHashKey(hash),
  },
];

export function registerLists(app: App, answers: NativeAnswers): void {
  const { rowsMax } = answers.context.config.server;
  const querystring = listQuery(rowsMax);
  const { ledger, dialect } = answers.context.network;
  for (const route of LISTS.filter((list) => isAnswerable(list, ledger))) {
    const schema = {
      ...described('Outputs', route.summary, { rows: Type.Array(ref('Utxo')), paged: true }),
      params: route.params,
      querystring,
    };
    app.get(route.path, { schema }, (request, reply) => {
      const params = request.params as Params;
      const [key, asset] = [route.key(params, dialect), route.asset?.(params)];
      const accept = asset === undefined ? undefined : holderOf(answers, asset);
      answers.giveRows(request, reply, (read) => {
        const plan = planPage(request.query, read, route.kind, key, rowsMax);
        const listing = { kind: route.kind, key, plan, accept };
        return plan.limit === null ? everyRow(answers, request, read, listing) : onePage(request, reply, read, listing, plan.limit);
      });
    });
  }
}

/** Outputs of some chains have only an owner: no credentials, and nothing like assets, datums or scripts that they could be found by. */
function isAnswerable({ kind, asset }: ListRoute, { keyKinds, traits }: Ledger): boolean {
  const isOfOwner = keyKinds.some((known) => known === kind);
  return traits === null ? isOfOwner && asset === undefined : isOfOwner || !KEY_KINDS.some((known) => known === kind);
}

interface Listing {
  readonly kind: IndexKind;
  readonly key: Uint8Array;
  readonly plan: PagePlan;
  readonly accept: RowFilter | undefined;
}

function onePage(
  request: FastifyRequest,
  reply: FastifyReply,
  read: ReadContext,
  listing: Listing,
  limit: number,
): ResponseBody | Promise<ResponseBody> {
  const { kind, key, plan, accept } = listing;
  const { order, after, skip } = plan;
  // One more than asked for, to know whether there is a next page.
  const scanned = accept === undefined ? skip + limit + 1 : undefined;
  const source = read.view.byKey(kind, key, { order, after, limit: scanned });
  const finish = ({ rows, next }: PageRows): ResponseBody => {
    if (next !== null) announceNext(request, reply, read, kind, plan, next);
    return joinRows(rows, read.form);
  };
  const made = makePage(read.task, source, { skip, limit, accept }, encoderOf(read));
  return made instanceof Promise ? made.then(finish) : finish(made);
}

function everyRow(answers: NativeAnswers, request: FastifyRequest, read: ReadContext, { kind, key, plan, accept }: Listing): Readable {
  // Nobody reads the body of a HEAD.
  if (request.method === 'HEAD') return Readable.from([]);
  const { order, after } = plan;
  const rows = new RowStream(read.task, read.view.byKey(kind, key, { order, after }), accept, encoderOf(read), read.form);
  return answers.state.stream(rows);
}

/** Whether an output holds the asset. */
function holderOf({ context }: NativeAnswers, { policy, name }: AssetId): RowFilter {
  const { traits } = context.network.ledger;
  return ({ output }) => traits !== null && holdsAsset(traits, output.raw, policy, name);
}
