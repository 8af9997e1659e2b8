/**
 * Answers of the Blockfrost API held against its own specification, as its
 * package has it: the route is one of Blockfrost's, and the body is what the
 * schema says. Where we do not know what Blockfrost tells, a field is null: those
 * fields are listed here, and in docs/reference/blockfrost.md.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import type { Answer } from './served.ts';

interface Schema {
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

type Routes = Readonly<Record<string, { readonly response: Readonly<Record<string, Schema>> }>>;

/** Where a schema allows anything, null is among it. */
function withoutBareNullable(_name: string, schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || 'type' in schema || !('nullable' in schema)) return schema;
  const { nullable: _, ...rest } = schema;
  return rest;
}

const specification = readFileSync(new URL(import.meta.resolve('@blockfrost/openapi/json-schema.json')), 'utf8');
const routes = JSON.parse(specification, withoutBareNullable) as Routes;

/** Of a chain whose transactions are not kept, and of a private network. */
const NULL_FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/accounts/{stake_address}': ['rewards_sum', 'withdrawals_sum', 'reserves_sum', 'treasury_sum'],
  '/assets/{asset}': ['initial_mint_tx_hash', 'mint_or_burn_count', 'onchain_metadata_standard'],
  '/epochs/latest': ['output', 'fees'],
  '/epochs/{number}': ['output', 'fees'],
  '/epochs/latest/parameters': ['nonce'],
  '/epochs/{number}/parameters': ['nonce'],
  '/txs/{hash}/redeemers': ['script_hash', 'fee'],
  '/genesis': ['active_slots_coefficient', 'update_quorum', 'max_lovelace_supply', 'slots_per_kes_period', 'max_kes_evolutions'],
};

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
const compiled = new Map<string, ValidateFunction>();

/** Paths without parameters first: /blocks/latest is not a block of that name. */
const patterns = Object.keys(routes)
  .toSorted((a, b) => a.split('{').length - b.split('{').length)
  .map((path) => ({ path, matches: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`) }));

/** `url` is below the base of the API. */
export function checkBlockfrost(url: string, { status, text }: Pick<Answer, 'status' | 'text'>): void {
  const pathname = url.split('?')[0].replaceAll('//', '/');
  const path = patterns.find(({ matches }) => matches.test(pathname === '' ? '/' : pathname))?.path;
  assert.ok(path !== undefined, `${pathname} is none of Blockfrost's`);
  // What it does not list among its failures has the form of the others.
  const response = routes[path].response[String(status)] ?? routes[path].response['500'];
  const name = `${path} ${status}`;
  const validate = compiled.get(name) ?? ajv.compile(status === 200 ? withNulls(response, NULL_FIELDS[path] ?? []) : response);
  compiled.set(name, validate);
  const body: unknown = JSON.parse(text);
  assert.ok(validate(body), `${url}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 600)}`);
  if (status >= 400) assert.equal((body as { readonly status_code: number }).status_code, status);
}

function withNulls(schema: Schema, fields: readonly string[]): object {
  if (schema.items !== undefined) return { ...schema, items: withNulls(schema.items, fields) };
  const nullable = fields.map((field) => [field, { anyOf: [{ type: 'null' }, schema.properties?.[field] ?? {}] }]);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(nullable) } };
}
