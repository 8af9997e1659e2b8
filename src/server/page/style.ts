/** The stylesheet of the page, in the order the eye meets it. */
import { BASE } from './style-base.ts';
import { EXPLORER } from './style-explorer.ts';
import { OVERVIEW } from './style-overview.ts';
import { TRANSACTION } from './style-transaction.ts';
import { TRAVEL } from './style-travel.ts';
import { WALLET } from './style-wallet.ts';

export const STYLE = BASE + OVERVIEW + EXPLORER + TRANSACTION + TRAVEL + WALLET;
