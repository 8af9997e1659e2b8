/**
 * Reads scripts of the Bitcoin family inside the page: what an output asks for,
 * and what an input brought along, as operations with their names. It runs in
 * the browser, where it is loaded with all it imports (`page/browser-modules.ts`)
 * once a view has a script to show. Bytes are hex. Never throws.
 */
import { NUMBER_BYTES_MAX, opcodeName, scriptNumber } from '../../ledgers/bitcoin/opcodes.ts';
import { coreType, OPCODE, operationAt } from '../../ledgers/bitcoin/script.ts';
import { type SpendPart, spendParts } from '../../ledgers/bitcoin/spend.ts';
import { fromHex, toHex } from '../../util/bytes.ts';

/** A name, or bytes that are pushed, with the number they may be; `rest`: bytes that are no operation, because they end too early. */
export type ShownOperation =
  | { readonly name: string }
  | { readonly push: string; readonly number: string | null }
  | { readonly rest: string };

export interface ShownSpendPart {
  readonly what: SpendPart['what'];
  readonly bytes: string;
  /** Of a script; null: it is none. */
  readonly operations: readonly ShownOperation[] | null;
}

const SCRIPTS: ReadonlySet<SpendPart['what']> = new Set(['input script', 'redeem script', 'witness script', 'tapscript']);

/** The kind is Core's name of it. */
export function readOutputScript(script: string): { readonly type: string; readonly operations: readonly ShownOperation[] } {
  const bytes = fromHex(script);
  return { type: coreType(bytes), operations: operationsOf(bytes) };
}

/** `script`: of the output that is spent; null: it is not known, or there is none. */
export function readSpend(scriptSig: string, witness: readonly string[], script: string | null): readonly ShownSpendPart[] {
  const input = { scriptSig: fromHex(scriptSig), witness: witness.map((item) => fromHex(item)) };
  return spendParts(input, script === null ? null : fromHex(script)).map(({ what, bytes }) => ({
    what,
    bytes: toHex(bytes),
    operations: SCRIPTS.has(what) ? operationsOf(bytes) : null,
  }));
}

function operationsOf(script: Uint8Array): ShownOperation[] {
  const operations: ShownOperation[] = [];
  for (let at = 0; at < script.length; ) {
    const operation = operationAt(script, at);
    if (operation === null) return [...operations, { rest: toHex(script, at, script.length) }];
    operations.push(shown(script.subarray(operation.start, operation.stop), operation.opcode));
    at = operation.stop;
  }
  return operations;
}

function shown(pushed: Uint8Array, opcode: number): ShownOperation {
  if (opcode > OPCODE.pushData4) return { name: opcodeName(opcode) };
  return { push: toHex(pushed), number: pushed.length <= NUMBER_BYTES_MAX ? scriptNumber(pushed).toString() : null };
}
