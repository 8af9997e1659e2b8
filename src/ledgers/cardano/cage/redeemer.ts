/**
 * Redeemers of the cage protocol as Plutus data: what a transaction says to the
 * scripts that guard states and requests. Read in the form of every version,
 * because the data tells them apart; written in the form of a given one.
 *
 * The proofs inside stay CBOR: only a token whose root surprises us has them
 * decoded (`proofs/mpf`).
 */
import { ARRAY, type Cursor, TAG } from '../../../util/cbor.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { readConstructor, readCount, readPlutusBytes, startConstructor, writeEmptyConstructor } from '../../../util/plutus.ts';
import type { OutRef } from '../transaction.ts';
import { decoded, KEY_HASH_BYTES, readTokenName, writeTokenName } from './datum.ts';

/** A version of the protocol. */
export type CageVersion = 'v0' | 'v1' | 'v2';

export type MintRedeemer =
  /** `seed`: the output whose spending gives the token its name. */
  | { readonly type: 'minting'; readonly seed: OutRef }
  | { readonly type: 'migrating'; readonly oldPolicy: Uint8Array; readonly token: Uint8Array }
  /** `token`: null before v2, which did not name it. */
  | { readonly type: 'burning'; readonly token: Uint8Array | null };

export type RequestAction =
  /** `proof`: its CBOR. */
  { readonly type: 'apply'; readonly proof: Uint8Array } | { readonly type: 'reject' };

export type SpendRedeemer =
  | { readonly type: 'end' }
  | { readonly type: 'contribute'; readonly state: OutRef }
  /** `bare`: a list of proofs instead of actions, as until v1.0. */
  | { readonly type: 'modify'; readonly actions: readonly RequestAction[]; readonly bare: boolean }
  /** `state`: null in v0. */
  | { readonly type: 'retract'; readonly state: OutRef | null }
  | { readonly type: 'sweep'; readonly state: OutRef }
  /** Of v1.0 only: all requests of the transaction. */
  | { readonly type: 'reject' };

const RECORD = 0;
const MINT = { minting: 0, migrating: 1, burning: 2 } as const;
/** In v0, where nothing migrates. */
const BURNING_V0 = 1;
const ACTION = { apply: 0, reject: 1 } as const;
const SPEND = { end: 0, contribute: 1, modify: 2, retract: 3, sweep: 4, reject: 4 } as const;

/** Null: these bytes are no such redeemer. */
export function decodeMintRedeemer(bytes: Uint8Array): MintRedeemer | null {
  return decoded(bytes, (c) =>
    readConstructor<MintRedeemer>(c, (alternative, fields) => {
      if (alternative > MINT.burning) c.fail('no redeemer of a mint');
      if (!fields.more()) {
        if (alternative !== MINT.burning && alternative !== BURNING_V0) c.fail('no redeemer of a mint');
        return { type: 'burning', token: null };
      }
      let redeemer: MintRedeemer;
      if (alternative === MINT.minting) redeemer = { type: 'minting', seed: readSeed(c) };
      else if (alternative === MINT.migrating) redeemer = readMigration(c);
      else redeemer = { type: 'burning', token: readTokenName(c) };
      fields.end();
      return redeemer;
    }),
  );
}

export function encodeMintRedeemer(redeemer: MintRedeemer, version: CageVersion): Uint8Array {
  const w = new CborWriter();
  if (redeemer.type === 'burning') {
    if (redeemer.token === null) return writeEmptyConstructor(w, version === 'v0' ? BURNING_V0 : MINT.burning).take();
    return writeTokenName(startConstructor(w, MINT.burning), redeemer.token).end().take();
  }
  startConstructor(w, MINT[redeemer.type]);
  if (redeemer.type === 'migrating') {
    writeTokenName(startConstructor(w, RECORD).bytes(redeemer.oldPolicy), redeemer.token).end();
  } else if (version === 'v2') writeOutRef(w, redeemer.seed);
  else writeOutRef(startConstructor(w, RECORD), redeemer.seed).end();
  return w.end().take();
}

/** Null: these bytes are no such redeemer. */
export function decodeSpendRedeemer(bytes: Uint8Array): SpendRedeemer | null {
  return decoded(bytes, (c) =>
    readConstructor<SpendRedeemer>(c, (alternative, fields) => {
      if (alternative > SPEND.sweep) c.fail('no redeemer of a cage');
      if (!fields.more()) {
        if (alternative === SPEND.end) return { type: 'end' };
        if (alternative === SPEND.retract) return { type: 'retract', state: null };
        if (alternative === SPEND.reject) return { type: 'reject' };
        return c.fail('a redeemer without its fields');
      }
      let redeemer: SpendRedeemer;
      if (alternative === SPEND.modify) redeemer = readModify(c);
      else if (alternative === SPEND.contribute) redeemer = { type: 'contribute', state: readOutRef(c) };
      else if (alternative === SPEND.retract) redeemer = { type: 'retract', state: readOutRef(c) };
      else if (alternative === SPEND.sweep) redeemer = { type: 'sweep', state: readOutRef(c) };
      else redeemer = c.fail('a redeemer with too many fields');
      fields.end();
      return redeemer;
    }),
  );
}

export function encodeSpendRedeemer(redeemer: SpendRedeemer): Uint8Array {
  const w = new CborWriter();
  if (redeemer.type === 'modify') return writeModify(startConstructor(w, SPEND.modify), redeemer).end().take();
  if (redeemer.type === 'end' || redeemer.type === 'reject') return writeEmptyConstructor(w, SPEND[redeemer.type]).take();
  if (redeemer.state === null) return writeEmptyConstructor(w, SPEND.retract).take();
  return writeOutRef(startConstructor(w, SPEND[redeemer.type]), redeemer.state).end().take();
}

/** Before v2 the seed stands in a record of its own. */
function readSeed(c: Cursor): OutRef {
  return readConstructor(c, (alternative, fields) => {
    if (alternative !== RECORD) c.fail('no seed');
    fields.next();
    const seed = c.peek() === TAG ? readOutRef(c) : { txId: readPlutusBytes(c), index: readCount(fields.next()) };
    fields.end();
    return seed;
  });
}

function readMigration(c: Cursor): MintRedeemer {
  return readConstructor<MintRedeemer>(c, (alternative, fields) => {
    if (alternative !== RECORD) c.fail('no migration');
    const oldPolicy = readPlutusBytes(fields.next(), KEY_HASH_BYTES);
    const token = readTokenName(fields.next());
    fields.end();
    return { type: 'migrating', oldPolicy, token };
  });
}

function readOutRef(c: Cursor): OutRef {
  return readConstructor(c, (alternative, fields) => {
    if (alternative !== RECORD) c.fail('no reference of an output');
    const txId = readPlutusBytes(fields.next());
    const index = readCount(fields.next());
    fields.end();
    return { txId, index };
  });
}

function writeOutRef(w: CborWriter, { txId, index }: OutRef): CborWriter {
  return startConstructor(w, RECORD).bytes(txId).uint(index).end();
}

function readModify(c: Cursor): SpendRedeemer {
  const actions: RequestAction[] = [];
  let bare = false;
  for (let i = 0, count = c.array(); c.more(count, i); i++) {
    const isProof = c.peek() === ARRAY;
    if (i > 0 && isProof !== bare) c.fail('proofs and actions in one list');
    bare = isProof;
    actions.push(isProof ? { type: 'apply', proof: rawItem(c) } : readAction(c));
  }
  return { type: 'modify', actions, bare };
}

function readAction(c: Cursor): RequestAction {
  const at = c.at;
  return readConstructor<RequestAction>(c, (alternative, fields) => {
    if (alternative > ACTION.reject) c.fail('no action', at);
    if (alternative === ACTION.reject) {
      fields.end();
      return { type: 'reject' };
    }
    fields.next();
    if (c.peek() !== ARRAY) c.fail('no proof');
    const proof = rawItem(c);
    fields.end();
    return { type: 'apply', proof };
  });
}

function rawItem(c: Cursor): Uint8Array {
  const start = c.at;
  c.skip();
  return c.bytes.slice(start, c.at);
}

function writeModify(w: CborWriter, { actions, bare }: { readonly actions: readonly RequestAction[]; readonly bare: boolean }): CborWriter {
  if (actions.length === 0) return w.array(0);
  w.startArray();
  for (const action of actions) {
    if (action.type === 'reject') writeEmptyConstructor(w, ACTION.reject);
    else if (bare) w.raw(action.proof);
    else startConstructor(w, ACTION.apply).raw(action.proof).end();
  }
  return w.end();
}
