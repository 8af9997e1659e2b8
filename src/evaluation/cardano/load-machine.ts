/**
 * The door to `uplc/`. The machine that runs scripts is a package that is
 * installed only where transactions are evaluated; without it this says which.
 */
import { UnspentError } from '../../util/errors.ts';

/** All that `uplc/` has. */
export type ScriptMachine = typeof import('./uplc/machine.ts');

const PACKAGE = '@lucid-evolution/uplc';

/** Throws UNSUPPORTED where the package is not installed. */
export async function loadMachine(load: () => Promise<ScriptMachine> = () => import('./uplc/machine.ts')): Promise<ScriptMachine> {
  try {
    return await load();
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing || !cause.message.includes(`'${PACKAGE}'`)) throw cause;
    throw new UnspentError('UNSUPPORTED', `evaluating scripts needs a package that is not installed: npm install ${PACKAGE}`, {}, cause);
  }
}
