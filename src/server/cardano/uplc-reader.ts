/**
 * Shows the program of a Plutus script inside the page, as text. It runs in the
 * browser, where it is loaded with all it imports (`page/browser-modules.ts`)
 * when somebody opens a program.
 */
import { printProgram } from '../../ledgers/cardano/uplc/print.ts';
import { readProgram } from '../../ledgers/cardano/uplc/program.ts';
import { fromHex } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';

/** A script as outputs carry it: `[kind, script]`, in which the program is a byte string inside a byte string. Throws where it is none. */
export function readUplc(cbor: string): string {
  const cursor = new Cursor(fromHex(cbor));
  cursor.tuple(2, 'script');
  cursor.uint();
  return printProgram(readProgram(new Cursor(cursor.byteString()).byteString()));
}
