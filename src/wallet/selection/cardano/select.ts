/**
 * Coin selection on Cardano: which coins pay for outputs of lovelace and assets,
 * with the fee of the transaction's size, and everything else back as change
 * that holds what an output must hold. Pure, as on Bitcoin.
 *
 * Random-improve (CIP-2, for each asset in turn as cardano-wallet does) keeps a
 * wallet's coins about as large as its payments. If that makes the transaction
 * too large, the largest coins are taken instead, which are the fewest.
 */
import { LONGEST_LOVELACE, lovelaceMin, signatureBytes, sizeFee } from '../../../ledgers/cardano/fee.ts';
import { type OutputToWrite, sameRef, writeTransaction } from '../../../ledgers/cardano/transaction-write.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { type RandomBits, systemRandom } from '../random.ts';
import { Bundle, LOVELACE } from './bundle.ts';
import { changeOutputs, lovelaceOf, withLovelace } from './change.ts';
import type { Coin, Selection, SelectionOrder, SelectionRequest } from './coin.ts';
import { CoinDraw } from './draw.ts';

const NO_UNITS = { memory: 0n, steps: 0n };
/** Lovelace of the longest form that a fee takes: below 2^32. */
const LONGEST_FEE = 0xffff_ffffn;

/**
 * Chooses among `coins`, which are all different. Throws FUNDS_INSUFFICIENT with
 * the unit and what is missing of it, TX_TOO_LARGE, OUTPUT_DUST for an output
 * that holds too little lovelace, and USAGE.
 */
export function selectCoins(coins: readonly Coin[], request: SelectionRequest, random: RandomBits = systemRandom()): Selection {
  const { preset = [], order = 'random-improve' } = request;
  checkRequest(request);
  const others = preset.length === 0 ? coins : coins.filter((coin) => !preset.some((other) => sameRef(coin, other)));
  if (order === 'largest-first') return selectInOrder(others, request, order, random);
  try {
    return selectInOrder(others, request, order, random);
  } catch (error) {
    if (!isUnspentError(error, 'TX_TOO_LARGE')) throw error;
    return selectInOrder(others, request, 'largest-first', random);
  }
}

function checkRequest({ outputs, parameters, preset = [] }: SelectionRequest): void {
  if (outputs.length === 0 && preset.length === 0) throw new UnspentError('USAGE', 'a transaction needs an output or a coin to spend');
  if (preset.some((coin, i) => preset.slice(0, i).some((other) => sameRef(coin, other)))) {
    throw new UnspentError('USAGE', 'a preset coin is named twice');
  }
  for (const [index, output] of outputs.entries()) {
    if ((output.assets ?? []).some(({ quantity }) => quantity <= 0n))
      throw new UnspentError('USAGE', `output ${index} pays none of an asset`);
    const least = lovelaceMin(output, parameters);
    if (output.lovelace >= least) continue;
    throw new UnspentError('OUTPUT_DUST', `output ${index} has ${output.lovelace} lovelace, and must hold ${least}`, {
      index,
      left: output.lovelace,
      least,
    });
  }
}

function selectInOrder(coins: readonly Coin[], request: SelectionRequest, order: SelectionOrder, random: RandomBits): Selection {
  const needed = Bundle.sumOf(request.outputs);
  const draw = new CoinDraw(coins, request.preset ?? [], order, random);
  draw.reach(needed);
  if (order === 'random-improve') draw.improve(needed);
  for (;;) {
    const inputs = [...draw.selected];
    const settled = settle(inputs, request);
    if (settled.lacking === 0n) return { algorithm: order, inputs, outputs: request.outputs, ...settled };
    draw.reachQuantity(LOVELACE, draw.held.quantity(LOVELACE) + settled.lacking);
  }
}

interface Settled {
  /** Lovelace that is missing for fee and change; 0: it is paid for. */
  readonly lacking: bigint;
  readonly change: readonly OutputToWrite[];
  readonly fee: bigint;
  readonly bytes: number;
}

/** Fee and change of these inputs. What is left over without change goes to the fee if it is no more than change would cost. */
function settle(inputs: readonly Coin[], request: SelectionRequest): Settled {
  const { outputs, changeAddress, parameters } = request;
  const rest = Bundle.sumOf(inputs);
  for (const output of outputs) rest.subtract(output);
  const change = changeOutputs(changeAddress, rest.assets(), parameters);
  const [bare, full] = [measured(inputs, [], request), measured(inputs, change, request)];
  const left = rest.quantity(LOVELACE);
  const spare = left - bare.fee;
  if (outputs.length > 0 && rest.assets().length === 0 && spare >= 0n && spare <= full.fee - bare.fee) {
    return { ...bare, lacking: 0n, change: [], fee: left };
  }
  const lacking = full.fee + lovelaceOf(change) - left;
  if (lacking > 0n) return { ...full, lacking, change };
  return { ...full, lacking: 0n, change: withLovelace(change, left - full.fee) };
}

/** Bytes and fee with amounts of the longest form, so that the fee does not depend on itself. Throws TX_TOO_LARGE. */
function measured(
  inputs: readonly Coin[],
  change: readonly OutputToWrite[],
  { outputs, parameters, validity = {} }: SelectionRequest,
): { readonly bytes: number; readonly fee: bigint } {
  const { tx } = writeTransaction({
    inputs,
    outputs: [...outputs, ...change.map((output) => ({ ...output, lovelace: LONGEST_LOVELACE }))],
    fee: LONGEST_FEE,
    validity,
    signers: [],
    references: [],
    scripts: [],
    units: NO_UNITS,
    costModel: [],
  });
  const bytes = tx.length + signatureBytes(new Set(inputs.map(({ signer }) => signer)).size);
  if (bytes > parameters.txBytesMax) {
    const message = `the transaction would have ${bytes} bytes, and ${parameters.txBytesMax} are allowed: pay less at once, or merge coins first`;
    throw new UnspentError('TX_TOO_LARGE', message, { bytes, bytesMax: parameters.txBytesMax });
  }
  return { bytes, fee: sizeFee(bytes, parameters) };
}
