/** A secret in a file, or on standard input: never an argument, which other users of the machine can read. */
import { SECRET_BYTES_MAX } from '../../../util/limits.ts';
import type { WalletSecret } from '../../../wallet/bitcoin/keys/index.ts';
import type { Keys } from '../../../wallet/bitcoin/load-keys.ts';
import { readSecretText } from '../../../wallet/bitcoin/operations/signing-wallet.ts';
import { readOperand } from '../../read-operand.ts';

/** `wordsPassphrase`: of words, their own (BIP39); empty: none. The caller wipes the secret. Throws SECRET_INVALID, IO, LIMIT. */
export async function readSecretFile(keys: Keys, file: string, wordsPassphrase: string): Promise<WalletSecret> {
  const bytes = await readOperand(file, SECRET_BYTES_MAX);
  try {
    return readSecretText(keys, new TextDecoder().decode(bytes), wordsPassphrase);
  } finally {
    bytes.fill(0);
  }
}
