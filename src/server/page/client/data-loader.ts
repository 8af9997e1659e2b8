/**
 * The library's own reader of Plutus data, scripts and metadata, as the page
 * uses it: loaded when a view has something of the kind. The shapes are those of
 * `server/cardano/data-reader.ts`, which runs here though it is no part of the page.
 */
import type { NativeScript, Tree } from './tree.ts';

export interface ShownScript {
  readonly type: string;
  readonly native: NativeScript | null;
  /** Bytes. */
  readonly size: number;
}

export interface ShownWitness {
  readonly kind: 'datum' | 'script';
  readonly hash: string;
  readonly cbor: string;
}

export interface DataReader {
  readData(cbor: string): Tree;
  readScript(cbor: string): ShownScript;
  readTxParts(cbor: string): readonly ShownWitness[];
  readLabels(auxiliary: string): readonly { readonly label: string; readonly value: Tree }[];
}

/** The text of Plutus programs, as `server/cardano/uplc-reader.ts` has it. */
export interface ProgramReader {
  readUplc(cbor: string): string;
}

const MODULE = './server_cardano_data-reader.js';
const PROGRAM_MODULE = './server_cardano_uplc-reader.js';

export async function loadDataReader(): Promise<DataReader> {
  return (await import(MODULE)) as DataReader;
}

export async function loadProgramReader(): Promise<ProgramReader> {
  return (await import(PROGRAM_MODULE)) as ProgramReader;
}
