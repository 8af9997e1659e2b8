/**
 * The door to `keys/`. Deriving and signing stand on packages that are installed
 * only where wallets are used; without them this says which.
 */
import { UnspentError } from '../../util/errors.ts';

/** All that `keys/` has. */
export type Keys = typeof import('./keys/index.ts');

const PACKAGES = ['@scure/bip32', '@scure/bip39', '@scure/btc-signer'];

/** Throws UNSUPPORTED where the packages are not installed. */
export async function loadKeys(load: () => Promise<Keys> = () => import('./keys/index.ts')): Promise<Keys> {
  try {
    return await load();
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing || !PACKAGES.some((name) => cause.message.includes(`'${name}'`))) throw cause;
    const message = `keys of wallets need packages that are not installed: npm install ${PACKAGES.join(' ')}`;
    throw new UnspentError('UNSUPPORTED', message, { packages: PACKAGES }, cause);
  }
}
