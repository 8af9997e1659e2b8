/**
 * What a client asks of the server itself, and of fees. We advertise no peers
 * and take none: this server is for those who know where it is.
 */
import { VERSION } from '../../../util/version.ts';
import { isLoopback } from '../../http/safety.ts';
import type { Backend } from './backend.ts';
import type { Method, Methods } from './method.ts';
import { count } from './params.ts';
import { RPC, RpcError } from './rpc.ts';
import { coins } from './verbose.ts';
import { NEWEST, OLDEST } from './version.ts';

const SOFTWARE = `Unspent ${VERSION}`;

/** Satoshis per 1000 virtual bytes below which nodes relay nothing by default. Ours does not tell us what it was set to. */
const RELAY_FEE = coins(1000);

/** Blocks that a fee is asked for at most: what nodes estimate for. */
const TARGET_MAX = 1008;

/** What a node takes for `estimate_mode`, in small letters. */
const MODES: readonly string[] = ['unset', 'economical', 'conservative'];

export function serverMethods(backend: Backend): Methods {
  const { mempool, network } = backend;
  return {
    'server.version': {
      names: ['client_name', 'protocol_version'],
      needed: 0,
      open: true,
      run: ([, asked = OLDEST], asker) => [SOFTWARE, asker.negotiate(asked)],
    },
    'server.features': plain(() => features(backend)),
    'server.banner': plain(() => `${SOFTWARE} on ${network.name}`),
    'server.ping': plain(() => null),
    'server.donation_address': plain(() => ''),
    'server.peers.subscribe': plain(() => []),
    'server.add_peer': { names: ['features'], needed: 0, run: () => false },
    'blockchain.estimatefee': {
      names: ['number', 'mode'],
      needed: 1,
      run: ([blocks, mode]) => {
        checkMode(mode);
        return coins(1000 * mempool.feeRate(Math.min(Math.max(count(blocks, 'number'), 1), TARGET_MAX)));
      },
    },
    'blockchain.relayfee': { ...plain(() => RELAY_FEE), until: '1.4.3' },
    'mempool.get_fee_histogram': plain(() => mempool.histogram()),
    'mempool.get_info': {
      ...plain(() => ({ mempoolminfee: RELAY_FEE, minrelaytxfee: RELAY_FEE, incrementalrelayfee: RELAY_FEE })),
      since: '1.6',
    },
  };
}

function plain(body: () => unknown): Method {
  return { names: [], needed: 0, run: body };
}

/** Ours comes from the mempool alone and knows one way only. */
function checkMode(mode: unknown): void {
  if (mode === undefined || (typeof mode === 'string' && MODES.includes(mode.toLowerCase()))) return;
  throw new RpcError(RPC.badRequest, `mode is one of ${MODES.join(', ')}`);
}

function features({ network, context, ports }: Backend): Record<string, unknown> {
  const { host } = context.config.electrum;
  const reachable = isLoopback(host) || (host !== '0.0.0.0' && host !== '::');
  const { tcp, tls, ws } = ports;
  const own = { tcp_port: tcp ?? null, ssl_port: tls ?? null, ...(ws === undefined ? {} : { ws_port: ws }) };
  return {
    genesis_hash: network.genesisHash,
    hosts: reachable ? { [host]: own } : {},
    protocol_min: OLDEST,
    protocol_max: NEWEST,
    pruning: null,
    server_version: SOFTWARE,
    hash_function: 'sha256',
  };
}
