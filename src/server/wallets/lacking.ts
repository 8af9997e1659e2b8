/**
 * Routes for what the wallets of a family cannot do: they answer UNSUPPORTED with
 * the reason, and are not in the OpenAPI document. Without them a program that
 * knows wallets of another family would be told that there is no such route.
 */
import { needFeature, type WalletFamily, type WalletFeature } from '../../wallet/family-wallets.ts';
import type { App } from '../http/typed.ts';

const POSTS: Readonly<Partial<Record<WalletFeature, string>>> = {
  payments: '/:name/payments',
  bumps: '/:name/transactions/:txid/bump',
  broadcasts: '/:name/transactions',
};

export function registerLacking(app: App, lacks: WalletFamily<never>['lacks']): void {
  for (const feature of Object.keys(lacks) as WalletFeature[]) {
    const url = POSTS[feature];
    if (url !== undefined) app.post(url, { schema: { hide: true } }, async () => needFeature({ lacks }, feature));
  }
}
