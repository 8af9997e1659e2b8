/**
 * A secret under a passphrase. The key comes from scrypt, whose cost stands in
 * the box; the cipher is AES-256-GCM. What the box is of (wallet and purpose) is
 * bound to it: a box that was moved to another wallet does not open.
 *
 * version 1 | log2 N | r | p | salt 16 | nonce 12 | ciphertext | tag 16
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { concatBytes, utf8, writeU32 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { SECRET_BYTES_MAX, SECRET_COST_LOG2, SECRET_COST_LOG2_MAX } from '../util/limits.ts';

const VERSION = 1;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const HEADER_BYTES = 4 + SALT_BYTES + NONCE_BYTES;
const CIPHER = 'aes-256-gcm';
/** scrypt's block size and its parallel runs, as RFC 7914 has them. */
const BLOCK_SIZE = 8;
const PARALLEL = 1;
const COST_LOG2_MIN = 10;

/** What a box is of. It opens for no other wallet and no other purpose. */
export interface BoxBinding {
  readonly walletId: string;
  readonly purpose: string;
}

export interface BoxOptions {
  /** scrypt's N as a power of two: one more doubles memory and time. Default 17: 128 MB. */
  readonly costLog2?: number;
}

/** Throws SECRET_INVALID for an empty passphrase. The caller wipes `secret`. */
export async function sealSecret(
  secret: Uint8Array,
  passphrase: string,
  binding: BoxBinding,
  options: BoxOptions = {},
): Promise<Uint8Array> {
  const { costLog2 = SECRET_COST_LOG2 } = options;
  if (passphrase === '') throw new UnspentError('SECRET_INVALID', 'a passphrase is needed');
  if (secret.length > SECRET_BYTES_MAX) throw new UnspentError('SECRET_INVALID', `a secret has at most ${SECRET_BYTES_MAX} bytes`);
  checkCost(costLog2, BLOCK_SIZE, PARALLEL);
  const header = concatBytes(Uint8Array.of(VERSION, costLog2, BLOCK_SIZE, PARALLEL), randomBytes(SALT_BYTES + NONCE_BYTES));
  const key = await stretch(passphrase, header);
  try {
    const cipher = createCipheriv(CIPHER, key, nonceOf(header), { authTagLength: TAG_BYTES });
    cipher.setAAD(bound(header, binding));
    return concatBytes(header, cipher.update(secret), cipher.final(), cipher.getAuthTag());
  } finally {
    key.fill(0);
  }
}

/** The caller wipes what it gets. Throws PASSPHRASE_WRONG, SECRET_INVALID. */
export async function openSecret(box: Uint8Array, passphrase: string, binding: BoxBinding): Promise<Uint8Array> {
  if (box.length < HEADER_BYTES + TAG_BYTES || box.length > HEADER_BYTES + TAG_BYTES + SECRET_BYTES_MAX) {
    throw new UnspentError('SECRET_INVALID', `a box of secrets cannot have ${box.length} bytes`, { bytes: box.length });
  }
  const [version, costLog2, blockSize, parallel] = box;
  if (version !== VERSION) throw new UnspentError('SECRET_INVALID', `no box of secrets of version ${version} is known`, { version });
  checkCost(costLog2, blockSize, parallel);
  const header = box.subarray(0, HEADER_BYTES);
  const key = await stretch(passphrase, header);
  try {
    const decipher = createDecipheriv(CIPHER, key, nonceOf(header), { authTagLength: TAG_BYTES });
    decipher.setAAD(bound(header, binding));
    decipher.setAuthTag(box.subarray(-TAG_BYTES));
    const secret = decipher.update(box.subarray(HEADER_BYTES, -TAG_BYTES));
    return finish(secret, () => decipher.final());
  } finally {
    key.fill(0);
  }
}

/** A new box of the same secret. The old one still opens with the old passphrase: delete it. */
export async function resealSecret(
  box: Uint8Array,
  passphrase: string,
  newPassphrase: string,
  binding: BoxBinding,
  options: BoxOptions = {},
): Promise<Uint8Array> {
  const secret = await openSecret(box, passphrase, binding);
  try {
    return await sealSecret(secret, newPassphrase, binding, options);
  } finally {
    secret.fill(0);
  }
}

/** Nothing of the secret is given out before its tag is checked. */
function finish(secret: Uint8Array, check: () => void): Uint8Array {
  try {
    check();
    return secret;
  } catch (cause) {
    secret.fill(0);
    const message = 'the passphrase is wrong, or the box was altered or is of another wallet or purpose';
    throw new UnspentError('PASSPHRASE_WRONG', message, {}, cause);
  }
}

function checkCost(costLog2: number, blockSize: number, parallel: number): void {
  const isSound = Number.isInteger(costLog2) && costLog2 >= COST_LOG2_MIN && costLog2 <= SECRET_COST_LOG2_MAX;
  if (isSound && blockSize === BLOCK_SIZE && parallel === PARALLEL) return;
  const message = `a box of secrets has a cost of 2^${COST_LOG2_MIN} to 2^${SECRET_COST_LOG2_MAX}, r ${BLOCK_SIZE} and p ${PARALLEL}, not 2^${costLog2}, ${blockSize} and ${parallel}`;
  throw new UnspentError('SECRET_INVALID', message, { costLog2, blockSize, parallel });
}

/** The same passphrase typed on another keyboard may be other code points: NFKD makes them one (as BIP39 does). */
function stretch(passphrase: string, header: Uint8Array): Promise<Uint8Array> {
  const N = 2 ** header[1];
  const password = utf8(passphrase.normalize('NFKD'));
  const options = { N, r: BLOCK_SIZE, p: PARALLEL, maxmem: 256 * N * BLOCK_SIZE };
  return new Promise((resolve, reject) => {
    scrypt(password, header.subarray(4, 4 + SALT_BYTES), KEY_BYTES, options, (error, key) => {
      password.fill(0);
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function nonceOf(header: Uint8Array): Uint8Array {
  return header.subarray(4 + SALT_BYTES);
}

/** What the tag covers besides the secret: lengths first, so that no two bindings are the same bytes. */
function bound(header: Uint8Array, { walletId, purpose }: BoxBinding): Uint8Array {
  const [wallet, use] = [utf8(walletId), utf8(purpose)];
  const lengths = new Uint8Array(8);
  writeU32(lengths, 0, wallet.length);
  writeU32(lengths, 4, use.length);
  return concatBytes(header, lengths, wallet, use);
}
