/**
 * `cage tokens|token|facts|requests|prove|status`: what a store keeps of cages
 * (the MPFS protocol), at the block it is at.
 */
import type { Command } from 'commander';
import { needCardano } from '../../families/cardano.ts';
import { outpointText } from '../../ledgers/outpoint.ts';
import { mpf } from '../../proofs/index.ts';
import type { CageFact, CageToken, PendingRequest } from '../../query/cardano/cage.ts';
import { renderPoint } from '../../query/render.ts';
import { CageRead, operationJson } from '../../server/cardano/mpfs/read.ts';
import { fromHex, isHex, toHex, utf8 } from '../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { printableText, shownText } from '../../util/text.ts';
import { action, type Context } from '../context.ts';
import { count, counted, pointText, shortened } from '../format.ts';
import { withQuery } from '../query-read.ts';

export function registerCage(program: Command): void {
  const cage = program
    .command('cage')
    .description('tokens, facts and requests of cages (cage.enabled)')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
A token is named by its asset name in hex, or by policy and name joined. Keys and values are bytes: keys are given in hex, or as
text with --text, and shown as text too where they are text.

Examples:
  $ unspent cage tokens
  $ unspent cage facts 98207724b0ea59b96c0eba16cb09e91da10f8bdc54ad36da4a2e40104a59a32b --json
  $ unspent cage prove 98207724b0ea59b96c0eba16cb09e91da10f8bdc54ad36da4a2e40104a59a32b paolino --text > proof.json`,
    );
  cage.command('tokens').description('all tokens').action(action(showTokens));
  const about = (name: string, description: string): Command => cage.command(name).description(description).argument('<id>', 'a token');
  about('token', 'one token: its state, its trie, where its requests belong').action(action(showToken));
  about('facts', 'every key and value of its trie').action(action(showFacts));
  about('requests', 'requests that wait, oldest first, with their phase at the time of the newest block').action(action(showRequests));
  about('prove', 'that a key has its value, or is not there: an answer of the MPFS API, for unspent/proofs (needs proofs.csmt)')
    .argument('<key>', 'in hex')
    .option('--text', 'the key is text')
    .action(action(proveFact));
  cage.command('status').description('how many there are, and whether all tries are what the chain says').action(action(showStatus));
}

type Body = (read: CageRead, point: ReturnType<typeof renderPoint>, where: string) => void | Promise<void>;

function withCages(context: Context, body: Body): Promise<void> {
  return withQuery(context, ({ query, network, dialect, projections }) => {
    const { parameters } = needCardano(network, 'a cage');
    const read = new CageRead(query, parameters, { network, projections });
    return body(read, renderPoint(query.head, dialect), pointText(query.head, dialect));
  });
}

function showTokens(context: Context): Promise<void> {
  const { output } = context;
  return withCages(context, (read, point, where) => {
    const tokens = [...read.cage.tokens()];
    if (output.json) return output.document({ point, tokens: tokens.map(tokenJson) });
    for (const token of tokens) {
      const facts = token.facts === null ? 'no trie' : counted(token.facts, 'fact');
      output.line(`${toHex(token.id.name)}  ${token.version}  ${facts}${token.status === 'consistent' ? '' : `  ${token.status}`}`);
    }
    output.line(`${counted(tokens.length, 'token')} at ${where}`);
  });
}

function tokenJson({ id, version, status, txId, index, state, requestScript, migratedFrom, facts }: CageToken): object {
  const { owner, root, terms } = state;
  return {
    policy: toHex(id.policy),
    token: toHex(id.name),
    version,
    status,
    output: outpointText({ txId, index }),
    owner: toHex(owner),
    root: toHex(root),
    ...(terms === null ? {} : { tip: `${terms.tip}`, process_time_ms: `${terms.processTime}`, retract_time_ms: `${terms.retractTime}` }),
    request_script: requestScript === null ? null : toHex(requestScript),
    ...(migratedFrom === null ? {} : { migrated_from: toHex(migratedFrom) }),
    facts,
  };
}

function showToken(context: Context, id: string): Promise<void> {
  const { output } = context;
  return withCages(context, (read, point, where) => {
    const token = tokenJson(read.token(id));
    if (output.json) output.document({ point, token });
    else output.pairs([...Object.entries(token).map(([name, value]): [string, string] => [name, `${value}`]), ['at', where]]);
  });
}

async function showFacts(context: Context, id: string): Promise<void> {
  const { output } = context;
  await withCages(context, async (read, point, where) => {
    const token = read.token(id);
    let listed = 0;
    const rows = function* (): Generator<object, void, undefined> {
      for (const fact of read.cage.facts(token)) {
        listed++;
        yield factJson(fact);
      }
    };
    if (output.json) {
      await output.documentWithList({ point, token: toHex(token.id.name), status: token.status }, 'facts', rows(), () => ({
        count: listed,
      }));
      return;
    }
    for (const { key, value } of read.cage.facts(token)) {
      listed++;
      output.line(`${shownText(key)}  ${shortened(shownText(value), 60, 12)}`);
    }
    output.line(`${counted(listed, 'fact')} at ${where}`);
  });
}

function factJson({ key, value, slot }: CageFact): object {
  return { key: toHex(key), ...textField('key_text', key), value: toHex(value), ...textField('value_text', value), slot };
}

function textField(name: string, bytes: Uint8Array): object {
  const text = printableText(bytes);
  return text === null ? {} : { [name]: text };
}

function showRequests(context: Context, id: string): Promise<void> {
  const { output } = context;
  return withCages(context, (read, point, where) => {
    const requests = [...requestsFor(read, id)];
    if (output.json) return output.document({ point, requests: requests.map(requestJson) });
    for (const { txId, index, request, phase } of requests)
      output.line(
        `${outpointText({ txId, index })}  ${request.operation.type} ${shownText(request.key)}${phase === null ? '' : `  ${phase}`}`,
      );
    output.line(`${counted(requests.length, 'request')} at ${where}`);
  });
}

/** A token that ended, or never was, may still have requests: then nobody can tell where they belong. */
function requestsFor(read: CageRead, id: string): Iterable<PendingRequest> {
  try {
    return read.cage.requests(read.token(id), read.nowMs);
  } catch (error) {
    if (!isUnspentError(error, 'NOT_FOUND')) throw error;
    const left = [...read.cage.requestsNamed(fromHex(id.slice(-64)))];
    if (left.length === 0) throw error;
    return left;
  }
}

function requestJson({ txId, index, slot, lovelace, request, canonical, phase }: PendingRequest): object {
  const { owner, key, operation, terms } = request;
  return {
    output: outpointText({ txId, index }),
    slot,
    lovelace: `${lovelace}`,
    owner: toHex(owner),
    key: toHex(key),
    ...textField('key_text', key),
    operation: operationJson(operation),
    ...(terms === null ? {} : { tip: `${terms.tip}`, submitted_at_ms: `${terms.submittedAt}` }),
    canonical,
    phase,
  };
}

function proveFact(context: Context, id: string, given: string): Promise<void> {
  const key = keyOf(given, context.options.text === true);
  return withCages(context, (read) => {
    const token = read.token(id);
    const { fact, proof } = read.cage.proof(token, key);
    const value = fact === null ? {} : { value: toHex(fact.value) };
    const proven = { mpf_proof: toHex(mpf.encode(proof)), state: read.state(token) };
    context.output.document({ snapshot: read.snapshot(), token: toHex(token.id.name), key: toHex(key), ...value, fact: proven });
  });
}

function keyOf(given: string, isText: boolean): Uint8Array {
  if (isText) return utf8(given);
  if (isHex(given)) return fromHex(given);
  throw new UnspentError('USAGE', `a key is given in hex; '${given.slice(0, 40)}' is not: with --text it is text`);
}

function showStatus(context: Context): Promise<void> {
  const { output } = context;
  return withCages(context, (read, point, where) => {
    const { tokens, diverged, requests, malformed, gone } = read.cage.counters();
    const deployments = read.cage.deployments().map(({ version, stateScriptHash }) => ({ version, policy: toHex(stateScriptHash) }));
    const away = [...read.cage.tokens()].filter(({ status }) => status !== 'consistent');
    const list = away.map(({ id, status }) => ({ policy: toHex(id.policy), token: toHex(id.name), status }));
    if (output.json) return output.document({ point, deployments, tokens, requests, malformed, gone, diverged: list });
    output.pairs([
      ['followed', deployments.map(({ version, policy }) => `${version} ${policy}`).join('\n          ') || 'nothing yet'],
      ['tokens', count(tokens)],
      ['diverged', diverged === 0 ? 'none' : list.map(({ token, status }) => `${token} (${status})`).join(', ')],
      ['requests', count(requests)],
      ['malformed', `${counted(malformed, 'output')} at scripts of cages with a datum that is none`],
      ['at', where],
    ]);
  });
}
