/**
 * A transaction that waits is helped on: by one that takes its place and pays
 * more (BIP125), or by a child that pays for both. Either is a partially signed
 * transaction, to be signed and broadcast as any other.
 */
import { decodeTx, describeTx } from '../../../ledgers/bitcoin/index.ts';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { TxDetail, WalletInfo } from '../../records.ts';
import { refusal } from '../../rules/failures.ts';
import { isLive } from '../../rules/status.ts';
import type { Coin, PaymentOutput } from '../../selection/bitcoin/coin.ts';
import { REPLACEABLE_SEQUENCE, selectReplacement, type Victim } from '../../selection/bitcoin/fee-bump.ts';
import { feeOf } from '../../selection/bitcoin/fee-rate.ts';
import { selectCoins } from '../../selection/bitcoin/select.ts';
import type { FeeAllowance } from './fee-guard.ts';
import { chooseAndLease, finishPayment, type PreparedPayment, selectionTerms } from './payment.ts';
import { Spendables } from './spendable.ts';
import { feeOfTx, vsizeOfTx } from './unconfirmed.ts';
import type { WalletContext } from './wallet-context.ts';

export interface BumpRequest extends FeeAllowance {
  readonly txId: Uint8Array;
  /** In sat/kvB. */
  readonly rate: number;
  readonly leaseMs: number;
}

export interface ChildRequest extends BumpRequest {
  /** What the parent pays, where the wallet cannot know: not all its inputs are its own. */
  readonly parentFee?: bigint | undefined;
}

/**
 * The same payments with a higher fee: change pays it, and more coins where that does not suffice. Throws TX_UNKNOWN,
 * TX_NOT_UNMINED, REPLACEMENT_REFUSED, FEE_TOO_HIGH, FUNDS_INSUFFICIENT, INVALID_PARAM where the transaction is not all the wallet's own.
 */
export async function prepareReplacement(context: WalletContext, wallet: WalletInfo, request: BumpRequest): Promise<PreparedPayment> {
  const { txId, rate } = request;
  const victim = await waiting(context, wallet, txId);
  const spendables = await Spendables.read(context, wallet, rate);
  const preset = await spentCoins(context, wallet, spendables, victim);
  const victims = victimsOf(context, spendables, victim);
  const account = spendables.accountNamed(undefined);
  const outputs = await paymentsOf(context, wallet, victim);
  const terms = { ...selectionTerms(context, spendables, account, { outputs, rate }), preset };
  const leased = await chooseAndLease(
    context,
    wallet,
    request,
    (free) => selectReplacement(spendables.coins(free), terms, victims),
    preset,
  );
  return finishPayment(context, wallet, spendables, leased, undefined);
}

/** A child that spends the wallet's largest output of the transaction to itself. Throws as `prepareReplacement`. */
export async function prepareChild(context: WalletContext, wallet: WalletInfo, request: ChildRequest): Promise<PreparedPayment> {
  const { txId, rate, parentFee } = request;
  const parent = await waiting(context, wallet, txId);
  const spendables = await Spendables.read(context, wallet, rate);
  const account = spendables.accountNamed(undefined);
  const terms = selectionTerms(context, spendables, account, { outputs: [], rate, spendUnsafe: true });
  const fee = feeOfTx(parent);
  if (fee === null && parentFee === undefined) {
    throw refusal.invalid("what the parent pays is not known, because not all its inputs are the wallet's own: say its fee");
  }
  const leased = await chooseAndLease(context, wallet, request, (free) => {
    const own = spendables.coins(free).filter((coin) => toHex(coin.txId) === toHex(txId));
    const largest = own.reduce<Coin | undefined>((best, coin) => (best === undefined || coin.value > best.value ? coin : best), undefined);
    if (largest === undefined) throw refusal.invalid('the wallet has no output of that transaction that is free to spend');
    const owed = fee === null ? shortfall(context, parent, parentFee ?? 0n, rate) : largest.bumpFee;
    return selectCoins([], {
      ...terms,
      combinedBumpFee: () => owed,
      preset: [withBumpFee(largest, owed)],
      presetOnly: true,
    });
  });
  return finishPayment(context, wallet, spendables, leased, undefined);
}

function withBumpFee(coin: Coin, bumpFee: bigint): Coin {
  const { txId, index, value, weight, type, script, confirmations, own, ancestors, descendants } = coin;
  return { txId, index, value, weight, type, script, confirmations, own, ancestors, descendants, bumpFee };
}

/** What a parent whose fee the caller knows pays too little. */
function shortfall({ network }: WalletContext, parent: TxDetail, fee: bigint, rate: number): bigint {
  const missing = BigInt(feeOf(rate, vsizeOfTx(network, parent))) - fee;
  return missing > 0n ? missing : 0n;
}

async function waiting({ store }: WalletContext, { id }: WalletInfo, txId: Uint8Array): Promise<TxDetail> {
  const detail = await store.getTxDetail(id, txId);
  if (isLive(detail.status) && detail.block === null) return detail;
  throw refusal.txNotUnmined(txId, detail.status, detail.block !== null);
}

/** The coins that it spends, as if they were free. */
async function spentCoins(
  { store }: WalletContext,
  { id }: WalletInfo,
  spendables: Spendables,
  { tx, ownedInputs }: TxDetail,
): Promise<Coin[]> {
  if (ownedInputs.length < tx.inputs.length)
    throw refusal.invalid("not all inputs of the transaction are the wallet's own, so that it cannot replace it");
  const coins: Coin[] = [];
  for (const { txId, index } of tx.inputs) {
    const parent = await store.getTx(id, txId);
    const { script, amount } = parent.tx.outputs[index];
    const address = (await store.resolveOwned(id, [script])).get(toHex(script));
    const accountId = address?.derivation?.accountId;
    const coin = spendables.coin({
      outpoint: { txId, index },
      amount,
      script,
      kind: address?.kind ?? 'p2wpkh',
      account: accountId === undefined ? null : { id: accountId },
      height: parent.block?.height ?? null,
      isOwnChange: true,
    });
    if (coin === null)
      throw new UnspentError('UNSUPPORTED', 'how an input of the transaction is spent is not known: its address has no keys');
    coins.push(coin);
  }
  return coins;
}

/** It, and what depends on it. A descendant whose fee is not known is counted with none: nodes may ask for more then. */
function victimsOf({ network }: WalletContext, { unconfirmed }: Spendables, victim: TxDetail): Victim[] {
  const id = toHex(victim.tx.id);
  return [...unconfirmed.descendants(id)].flatMap((each) => {
    const detail = unconfirmed.get(each);
    if (detail === undefined) return [];
    const { inputs } = describeTx(decodeTx(detail.tx.raw, network.mweb));
    const replaceable = inputs.some(({ sequence }) => sequence <= REPLACEABLE_SEQUENCE);
    return [{ fee: feeOfTx(detail) ?? 0n, vsize: vsizeOfTx(network, detail), direct: each === id, replaceable }];
  });
}

/** All its outputs but those to change addresses of the wallet; none: it pays only the wallet itself, and so will the new one. */
async function paymentsOf({ store }: WalletContext, { id }: WalletInfo, { tx }: TxDetail): Promise<PaymentOutput[]> {
  const owned = await store.resolveOwned(
    id,
    tx.outputs.map(({ script }) => script),
  );
  return tx.outputs
    .filter(({ script }) => owned.get(toHex(script))?.derivation?.branch !== 1)
    .map(({ script, amount }) => ({ script, value: amount }));
}
