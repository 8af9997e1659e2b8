/**
 * docs/reference/columns.md and the table of projections say the same: the page's
 * own table is generated (`UNSPENT_TEST_UPDATE=1` rewrites it), and its list of
 * columns has every column there is.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { openNetwork } from '../../src/families/networks.ts';
import type { Ledger } from '../../src/ledgers/ledger.ts';
import { type BuiltInEntry, supports } from '../../src/projections/entry.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { everyProjection, PROJECTIONS, type ProjectionTable } from '../../src/projections/registry.ts';
import { deltaColumn } from '../../src/state/delta.ts';
import { switchText } from '../../src/util/setting.ts';

const page = new URL('../../docs/reference/columns.md', import.meta.url);
const LEDGERS: readonly (readonly [family: string, ledger: Ledger])[] = [
  ['Cardano', openNetwork('preview', null).ledger],
  ['Bitcoin family', openNetwork('bitcoin', null).ledger],
];
const HEAD = ['projection', 'kept where', 'columns', 'families', 'switched on later'];
const LATER = { exact: 'yes', outputs: 'yes, with what unspent outputs tell' } as const;

const quoted = (text: string): string => `\`${text}\``;

function rowOf(entry: BuiltInEntry): readonly string[] {
  const families = LEDGERS.filter(([, ledger]) => supports(entry, ledger));
  const { columns, reserved = [], fillable } = entry.make(families[0][1]);
  return [
    quoted(entry.name),
    keptWhere(entry),
    [...columns.map(({ name }) => quoted(name)), ...reserved.map(() => 'a row of `chain`')].join(', '),
    families.length === LEDGERS.length ? 'both' : families.map(([family]) => family).join(', '),
    fillable === undefined ? 'no' : LATER[fillable],
  ];
}

function keptWhere({ setting, onlyWith }: BuiltInEntry): string {
  if (setting === undefined) return 'always';
  const isDefault = setting.type === 'boolean' && setting.default ? ' (by default)' : '';
  const limit =
    onlyWith === undefined ? '' : `, and ${quoted(onlyWith.key)} is ${onlyWith.values.map((value) => quoted(`${value}`)).join(' or ')}`;
  return `${quoted(switchText(setting))}${isDefault}${limit}`;
}

function markdown(): string {
  const table: ProjectionTable = PROJECTIONS;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  return [HEAD, HEAD.map(() => '---'), ...table.map(rowOf)].map(line).join('');
}

describe('docs/reference/columns.md', () => {
  it('has the table of projections', () => {
    const text = readFileSync(page, 'utf8');
    const table = /(?<=<!-- projections -->\n)[\s\S]*(?=<!-- end of projections -->)/;
    assert.match(text, table, 'the page has lost its marks');
    const wanted = text.replace(table, () => markdown());
    if (process.env['UNSPENT_TEST_UPDATE'] === '1') writeFileSync(page, wanted);
    else assert.equal(text, wanted, 'run this test with UNSPENT_TEST_UPDATE=1 to rewrite the table');
  });

  it('lists every column, and no other', () => {
    const text = readFileSync(page, 'utf8');
    const list = text.slice(text.indexOf('| column | key | value |'), text.indexOf('The stored value of an output'));
    const told = [...list.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    const every: readonly Projection[] = LEDGERS.flatMap(([, ledger]) => everyProjection(ledger));
    const columns = [...every.flatMap((projection) => projection.columns), deltaColumn].map(({ name }) => name);
    assert.deepEqual([...new Set(told)].sort(), [...new Set(columns)].sort());
  });
});
