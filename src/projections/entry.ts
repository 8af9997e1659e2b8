/**
 * What the rest of the system has to know of a projection: its name, the setting
 * that switches it on, which ledgers it is for, how it is made, how it is
 * checked. Each projection defines its entry in its own folder; `registry.ts`
 * lists them. The store's shape, the settings, `verify`, the devnet and the
 * reference follow from that list.
 */
import type { Ledger, OutputTraits } from '../ledgers/ledger.ts';
import { UnspentError } from '../util/errors.ts';
import type { SettingReader, SettingValue, Switch } from '../util/setting.ts';
import type { Inspection, ProjectionCheck } from './inspection.ts';
import type { Projection } from './projection.ts';

/** What a store has to know of a projection to keep it. A program passes those of its own projections to `open`. */
export interface ProjectionEntry {
  /** In unspent.json, in undo records and in the status: it stays what it is once a store has it. */
  readonly name: string;
  /** What it is made from. One made from outputs is kept only where the unspent set is (`utxo.enabled`). */
  readonly from: 'blocks' | 'outputs';
  /** Whether blocks and outputs of this ledger have what it keeps. Absent: those of every ledger have. */
  supports?(ledger: Ledger): boolean;
  /** Its name is that of the entry. Throws UNSUPPORTED when the ledger lacks what it needs. */
  make(ledger: Ledger): Projection;
  /** Checks its rows against the unspent set. Absent, or null for this ledger: none of them follows from it. */
  check?(inspection: Inspection): ProjectionCheck | null;
}

/** An entry of our own table: settings decide about it. */
export interface BuiltInEntry extends ProjectionEntry {
  /** Switches it on; several entries may share one. Absent: every store keeps it. */
  readonly setting?: Switch;
  /** The switch counts only while this other setting has one of these values. */
  readonly onlyWith?: { readonly key: string; readonly values: readonly SettingValue[] };
  /** The switch counts only where this other entry is switched on as well. */
  readonly onlyBeside?: BuiltInEntry;
  /** `start` with a chain of its own keeps all that the ledger supports, except this. */
  readonly onRequestOnly?: true;
  /** `readSetting`: further settings that decide what it keeps; absent: those have their defaults. */
  make(ledger: Ledger, readSetting?: SettingReader): Projection;
}

/** A built-in entry with a switch whose key and values are known to the compiler: the type of the configuration follows from them. */
export interface SwitchedEntry<S extends Switch = Switch> extends BuiltInEntry {
  readonly setting: S;
}

export function supports(entry: ProjectionEntry, ledger: Ledger): boolean {
  return entry.supports?.(ledger) ?? true;
}

/** The traits of a ledger, for a projection that keeps something made of them. Throws UNSUPPORTED. */
export function needTraits({ family, traits }: Ledger, what: string): OutputTraits {
  if (traits !== null) return traits;
  throw new UnspentError('UNSUPPORTED', `${what} cannot be kept: outputs of the ${family} family have nothing of the kind`, { family });
}

/** For a projection that this version can make for other ledgers only. */
export function unsupported({ family }: Ledger, what: string): never {
  throw new UnspentError('UNSUPPORTED', `${what} cannot be kept: this version has none for the ${family} family`, { family });
}
