/**
 * ChaCha20 (RFC 8439) as a stream of numbers: the key stretched, with a nonce
 * of zeros and the blocks counted from zero. Written out, because words in
 * variables are twice as fast as words in an array. A test has the RFC's vectors.
 */
import { readU32LE } from '../util/bytes.ts';

const BLOCK_BYTES = 64;
const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const state = new Int32Array(16);

/** Fills `to`, whose length is a whole number of blocks, with the stream of the 32 bytes of `key`. */
export function chacha20(key: Uint8Array, to: Uint8Array): void {
  for (let i = 0; i < 4; i++) state[i] = CONSTANTS[i];
  for (let i = 0; i < 8; i++) state[4 + i] = readU32LE(key, 4 * i);
  for (let at = 0; at < to.length; at += BLOCK_BYTES) {
    state[12] = at / BLOCK_BYTES;
    block(to, at);
  }
}

function block(to: Uint8Array, at: number): void {
  let [a, b, c, d, e, f, g, h] = [state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]];
  let [i, j, k, l, m, n, o, p] = [state[8], state[9], state[10], state[11], state[12], state[13], state[14], state[15]];
  // Columns first, then diagonals.
  // biome-ignore format: a table
  for (let round = 0; round < 10; round++) {
    a = (a + e) | 0; m ^= a; m = (m << 16) | (m >>> 16); i = (i + m) | 0; e ^= i; e = (e << 12) | (e >>> 20);
    a = (a + e) | 0; m ^= a; m = (m << 8) | (m >>> 24); i = (i + m) | 0; e ^= i; e = (e << 7) | (e >>> 25);
    b = (b + f) | 0; n ^= b; n = (n << 16) | (n >>> 16); j = (j + n) | 0; f ^= j; f = (f << 12) | (f >>> 20);
    b = (b + f) | 0; n ^= b; n = (n << 8) | (n >>> 24); j = (j + n) | 0; f ^= j; f = (f << 7) | (f >>> 25);
    c = (c + g) | 0; o ^= c; o = (o << 16) | (o >>> 16); k = (k + o) | 0; g ^= k; g = (g << 12) | (g >>> 20);
    c = (c + g) | 0; o ^= c; o = (o << 8) | (o >>> 24); k = (k + o) | 0; g ^= k; g = (g << 7) | (g >>> 25);
    d = (d + h) | 0; p ^= d; p = (p << 16) | (p >>> 16); l = (l + p) | 0; h ^= l; h = (h << 12) | (h >>> 20);
    d = (d + h) | 0; p ^= d; p = (p << 8) | (p >>> 24); l = (l + p) | 0; h ^= l; h = (h << 7) | (h >>> 25);
    a = (a + f) | 0; p ^= a; p = (p << 16) | (p >>> 16); k = (k + p) | 0; f ^= k; f = (f << 12) | (f >>> 20);
    a = (a + f) | 0; p ^= a; p = (p << 8) | (p >>> 24); k = (k + p) | 0; f ^= k; f = (f << 7) | (f >>> 25);
    b = (b + g) | 0; m ^= b; m = (m << 16) | (m >>> 16); l = (l + m) | 0; g ^= l; g = (g << 12) | (g >>> 20);
    b = (b + g) | 0; m ^= b; m = (m << 8) | (m >>> 24); l = (l + m) | 0; g ^= l; g = (g << 7) | (g >>> 25);
    c = (c + h) | 0; n ^= c; n = (n << 16) | (n >>> 16); i = (i + n) | 0; h ^= i; h = (h << 12) | (h >>> 20);
    c = (c + h) | 0; n ^= c; n = (n << 8) | (n >>> 24); i = (i + n) | 0; h ^= i; h = (h << 7) | (h >>> 25);
    d = (d + e) | 0; o ^= d; o = (o << 16) | (o >>> 16); j = (j + o) | 0; e ^= j; e = (e << 12) | (e >>> 20);
    d = (d + e) | 0; o ^= d; o = (o << 8) | (o >>> 24); j = (j + o) | 0; e ^= j; e = (e << 7) | (e >>> 25);
  }
  put(to, at + 0, a + state[0]);
  put(to, at + 4, b + state[1]);
  put(to, at + 8, c + state[2]);
  put(to, at + 12, d + state[3]);
  put(to, at + 16, e + state[4]);
  put(to, at + 20, f + state[5]);
  put(to, at + 24, g + state[6]);
  put(to, at + 28, h + state[7]);
  put(to, at + 32, i + state[8]);
  put(to, at + 36, j + state[9]);
  put(to, at + 40, k + state[10]);
  put(to, at + 44, l + state[11]);
  put(to, at + 48, m + state[12]);
  put(to, at + 52, n + state[13]);
  put(to, at + 56, o + state[14]);
  put(to, at + 60, p + state[15]);
}

function put(to: Uint8Array, at: number, word: number): void {
  to[at] = word;
  to[at + 1] = word >>> 8;
  to[at + 2] = word >>> 16;
  to[at + 3] = word >>> 24;
}
