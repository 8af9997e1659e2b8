/**
 * Packages that only some rooms need are optional: a room loads them when it is
 * used, and says what to install where one is missing.
 */
import { UnspentError } from './errors.ts';

/** Installed for everybody, it finds only what is installed beside it. */
const IS_GLOBAL = /[\\/]lib[\\/]node_modules[\\/]unspent[\\/]/.test(import.meta.filename);

/** `user`: 'wallets'; `packages`: those that it needs. Undefined: it is another failure. */
export function missingPackage(error: unknown, user: string, packages: readonly string[]): UnspentError | undefined {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const name = /Cannot find package '([^']+)'/.exec(String(message))?.[1];
  if (name === undefined || !packages.includes(name)) return undefined;
  const words = `${user} need the package '${name}', which is not installed: npm install ${IS_GLOBAL ? '--global ' : ''}${name}`;
  return new UnspentError('UNSUPPORTED', words, { package: name }, error);
}
