/**
 * The library's own verifier of answers about cages, as the page uses it: loaded
 * when a view of a cage is opened for the first time. The shapes are those of
 * `server/cardano/cage-reader.ts`, which runs here though it is no part of the page.
 */
/** Bytes in hex. */
export interface ShownState {
  readonly owner: string;
  readonly root: string;
  readonly terms: { readonly tip: string; readonly processTime: number; readonly retractTime: number } | null;
}

export interface ShownToken extends ShownState {
  readonly policy: string;
  readonly name: string;
  readonly txHash: string;
  readonly index: number;
}

type Shown<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly why: string };

export interface CageReader {
  readTokens(answer: object): Shown<{ readonly tokens: readonly ShownToken[] }>;
  readState(txOut: string): ShownState | null;
  readFact(answer: object, token: { readonly policy: string; readonly name: string }, key: string): Shown<{ readonly value: string }>;
}

const MODULE = './server_cardano_cage-reader.js';

export async function loadCageReader(): Promise<CageReader> {
  return (await import(MODULE)) as CageReader;
}
