/**
 * Every projection there is, one line each: to add a capability, write a
 * projection with its entry in a folder of its own and add its line here. Which
 * of them a store keeps is a list of names; it follows from the settings and is
 * remembered in unspent.json. A program may add entries of its own when it opens
 * a store (`projectionTable`).
 */
import type { Ledger } from '../ledgers/ledger.ts';
import { assert } from '../util/errors.ts';
import { type SettingReader, type Switch, switchValue } from '../util/setting.ts';
import { addressBalance, stakeBalance } from './balance/entry.ts';
import { cageEntry } from './cardano/cage/entry.ts';
import { chainEntry } from './chain.ts';
import { csmtEntry } from './csmt/entry.ts';
import { type BuiltInEntry, type ProjectionEntry, supports } from './entry.ts';
import { historyEntry, paymentHistory, stakeHistory } from './history/entry.ts';
import { addressIndex, assetIndex, datumIndex, paymentIndex, policyIndex, scriptIndex, stakeIndex } from './index/entry.ts';
import { mmrEntry } from './mmr/entry.ts';
import type { Projection } from './projection.ts';
import { datumsEntry, scriptsEntry } from './seen/entry.ts';
import { setHashEntry } from './set-hash/entry.ts';
import { transactionsEntry } from './transactions.ts';
import { utxoEntry } from './utxo.ts';

/** Settings of a projection that have their defaults: a store then keeps what it was made with. */
const NOTHING_SAID: SettingReader = () => '';

/** In the order in which the fold runs them. */
export const PROJECTIONS = [
  chainEntry,
  transactionsEntry,
  utxoEntry,
  addressIndex,
  paymentIndex,
  stakeIndex,
  policyIndex,
  assetIndex,
  datumIndex,
  scriptIndex,
  addressBalance,
  stakeBalance,
  datumsEntry,
  scriptsEntry,
  historyEntry,
  paymentHistory,
  stakeHistory,
  setHashEntry,
  csmtEntry,
  mmrEntry,
  cageEntry,
] as const satisfies ProjectionTable;

export type ProjectionTable = readonly BuiltInEntry[];

/**
 * The table with those of other rooms (`more`) and a program's own entries behind ours. The program's have no setting:
 * whoever passes one wants it kept.
 */
export function projectionTable(own: readonly ProjectionEntry[], more: ProjectionTable = []): ProjectionTable {
  const table: ProjectionTable = [...PROJECTIONS, ...more, ...own];
  for (const { name, setting } of table.slice(PROJECTIONS.length + more.length)) {
    assert(setting === undefined, `the projection '${name}' has a setting that no configuration knows`);
    assert(table.filter((entry) => entry.name === name).length === 1, `there are two projections '${name}'`);
  }
  return table;
}

/** The projections of these names, in the order of the table. Throws UNSUPPORTED for one the ledger has nothing to make of. */
export function selectProjections(
  names: readonly string[],
  ledger: Ledger,
  table: ProjectionTable = PROJECTIONS,
  readSetting: SettingReader = NOTHING_SAID,
): readonly Projection[] {
  return makeAll(
    table.filter(({ name }) => names.includes(name)),
    ledger,
    readSetting,
  );
}

/** Every projection a store of this ledger may keep. */
export function everyProjection(
  ledger: Ledger,
  table: ProjectionTable = PROJECTIONS,
  readSetting: SettingReader = NOTHING_SAID,
): readonly Projection[] {
  return makeAll(
    table.filter((entry) => supports(entry, ledger)),
    ledger,
    readSetting,
  );
}

function makeAll(entries: ProjectionTable, ledger: Ledger, readSetting: SettingReader): readonly Projection[] {
  const columns = new Set<string>();
  return entries.map((entry) => {
    const projection = entry.make(ledger, readSetting);
    assert(projection.name === entry.name, `the entry '${entry.name}' makes a projection '${projection.name}'`);
    for (const { name } of projection.columns) {
      assert(!columns.has(name), `'${entry.name}' has a column '${name}', which another projection has, too`);
      columns.add(name);
    }
    return projection;
  });
}

/**
 * Names of the projections that settings ask of a store of this ledger. One that the ledger does not support is left
 * out if nobody had to ask for it: its switch is on by default, or keeps something else of this ledger. Otherwise its
 * name is there, and making it throws UNSUPPORTED.
 */
export function wantedNames(readSetting: SettingReader, ledger: Ledger, table: ProjectionTable = PROJECTIONS): readonly string[] {
  const keepsOutputs = isSwitchedOn(utxoEntry, readSetting);
  const on = table.filter((entry) => (entry.from === 'blocks' || keepsOutputs) && isSwitchedOn(entry, readSetting));
  const isAsked = ({ setting }: BuiltInEntry): boolean =>
    setting === undefined ||
    (setting.default !== switchValue(setting, true) && !on.some((other) => other.setting?.key === setting.key && supports(other, ledger)));
  return on.filter((entry) => supports(entry, ledger) || isAsked(entry)).map(({ name }) => name);
}

function isSwitchedOn({ setting, onlyWith, onlyBeside }: BuiltInEntry, readSetting: SettingReader): boolean {
  if (onlyBeside !== undefined && !isSwitchedOn(onlyBeside, readSetting)) return false;
  if (setting !== undefined && readSetting(setting.key) !== switchValue(setting, true)) return false;
  return onlyWith === undefined || onlyWith.values.includes(readSetting(onlyWith.key));
}

/** A switch, and the entries that it switches. */
export interface SwitchGroup {
  readonly setting: Switch;
  readonly entries: ProjectionTable;
}

/** The switches of the table, each once. */
export const SWITCHES: readonly SwitchGroup[] = switchesOf(PROJECTIONS);

function switchesOf(table: ProjectionTable): readonly SwitchGroup[] {
  const settings = new Map(table.flatMap(({ setting }) => (setting === undefined ? [] : [[setting.key, setting] as const])));
  return [...settings.values()].map((setting) => ({ setting, entries: table.filter((entry) => entry.setting?.key === setting.key) }));
}

/** The switch of a projection of ours. */
export function switchOf(name: string): Switch {
  const found = SWITCHES.find(({ entries }) => entries.some((entry) => entry.name === name));
  assert(found !== undefined, `there is a switch for '${name}'`);
  return found.setting;
}
