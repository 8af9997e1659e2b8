/** `wallet select` on Cardano: coins for a payment of lovelace and assets, by protocol parameters that are given as a file. */
import type { Command } from 'commander';
import { readSizeParameters } from '../../../ledgers/cardano/size-parameters.ts';
import { toHex } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import { PARAMETERS_BYTES_MAX } from '../../../util/limits.ts';
import { CardanoWallets } from '../../../wallet/cardano/cardano-wallets.ts';
import { type LeasedSelection, type PaidText, selectionJson, selectPayment } from '../../../wallet/cardano/payment.ts';
import { coinName } from '../../../wallet/documents.ts';
import type { FamilyWallets } from '../../../wallet/family-wallets.ts';
import type { WalletInfo } from '../../../wallet/records.ts';
import type { SelectionOrder } from '../../../wallet/selection/cardano/coin.ts';
import type { Context } from '../../context.ts';
import { pairs, utcTime } from '../../format.ts';
import type { CommandOptions } from '../../options.ts';
import { readOperand } from '../../read-operand.ts';
import { leaseMinutes } from '../../wallet/operands.ts';
import { assetCount, coinText } from '../../wallet/wallet-text.ts';

const ORDERS: readonly SelectionOrder[] = ['random-improve', 'largest-first'];

/** Options of payments of the Bitcoin family that nothing here would heed. */
const BITCOIN_ONLY =
  'account include exclude minConfs maxConfs avoidPartialSpends maxWeight unsafe longChains changeAccount changePosition longTermFeeRate discardFeeRate subtractFee subtractFeeFrom'.split(
    ' ',
  );

interface SelectFlags extends CommandOptions {
  readonly pay?: readonly string[];
  readonly coin?: readonly string[];
  readonly coinOrder?: string;
  readonly changeAddress?: string;
  readonly parameters?: string;
  readonly minutes?: string;
}

export function cardanoSelectOptions(command: Command): Command {
  return command.option('--parameters <file>', 'on Cardano: protocol parameters, as cardano-cli query protocol-parameters writes them');
}

export async function selectCardano(context: Context, wallets: FamilyWallets, wallet: WalletInfo): Promise<void> {
  assert(wallets instanceof CardanoWallets, 'these are wallets of Cardano');
  const { output } = context;
  const { pay = [], coin: coins, coinOrder, changeAddress, parameters: file, minutes }: SelectFlags = context.options;
  const foreign = BITCOIN_ONLY.find((flag) => (context.options as Readonly<Record<string, unknown>>)[flag] !== undefined);
  if (foreign !== undefined)
    throw new UnspentError(
      'UNSUPPORTED',
      `--${foreign.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} is of the Bitcoin family: coins of Cardano are not chosen by it`,
    );
  if (pay.length === 0) throw new UnspentError('USAGE', 'say who is paid: --pay ADDRESS=LOVELACE');
  if (file === undefined) throw new UnspentError('USAGE', 'a choice depends on the protocol parameters: --parameters FILE');
  const order = ORDERS.find((each) => each === (coinOrder ?? ORDERS[0]));
  if (order === undefined) throw new UnspentError('USAGE', `--coin-order is one of ${ORDERS.join(', ')}, not '${coinOrder?.slice(0, 40)}'`);
  const parameters = readSizeParameters(new TextDecoder().decode(await readOperand(file, PARAMETERS_BYTES_MAX)));
  const payment = { to: pay.map(paidText), coins, order, changeAddress, minutes: leaseMinutes(minutes) };
  const chosen = await selectPayment(wallets, wallet, payment, parameters);
  if (output.json) output.document(selectionJson(wallets, chosen));
  else output.line(selectionText(wallets, chosen));
}

/** `ADDRESS=LOVELACE`, and behind it `+QUANTITY:UNIT` for each asset. */
function paidText(text: string): PaidText {
  const [, address, amount, assets] = /^([^=]+)=(\d{1,20})((?:\+\d{1,20}:[0-9a-fA-F.]+)*)$/.exec(text) ?? [];
  if (address === undefined) {
    throw new UnspentError('USAGE', `a payment is ADDRESS=LOVELACE or ADDRESS=LOVELACE+QUANTITY:POLICY.NAME, not '${text.slice(0, 200)}'`);
  }
  const held = assets.split('+').slice(1);
  return {
    address,
    amount: BigInt(amount),
    assets: held.map((asset) => {
      const [quantity, unit] = asset.split(':');
      return { unit, quantity: BigInt(quantity) };
    }),
  };
}

function selectionText({ notation }: CardanoWallets, { selection, leaseId, expiresAt }: LeasedSelection): string {
  const { inputs, change, fee, bytes, algorithm } = selection;
  const held = (lovelace: bigint, assets: readonly unknown[] = []): string => `${coinText(lovelace, notation)}${assetCount(assets)}`;
  const changes = change.map(({ lovelace, assets }) => held(lovelace, assets));
  return pairs([
    ...inputs.map((coin, i): [string, string] => [
      i === 0 ? 'spends' : '',
      `${coinName(notation, coin)}  ${held(coin.lovelace, coin.assets)}`,
    ]),
    ['fee', `${coinText(fee, notation)} for ${bytes} bytes`],
    ...(changes.length === 0 ? ['none'] : changes).map((text, i): [string, string] => [i === 0 ? 'change' : '', text]),
    ['chosen by', algorithm],
    ['lease', `${toHex(leaseId)} until ${utcTime(Math.floor(expiresAt / 1000))}`],
  ]);
}
