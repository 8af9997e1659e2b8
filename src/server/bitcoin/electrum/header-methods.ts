/**
 * Headers for those who ask, with proofs up to a checkpoint, and news of the tip.
 */
import { formatId } from '../../../ledgers/bitcoin/index.ts';
import type { Query } from '../../../query/query.ts';
import { ELECTRUM_HEADERS_MAX } from '../../../util/limits.ts';
import type { Task } from '../../http/work/task.ts';
import type { Backend } from './backend.ts';
import { HeaderProofs } from './header-proofs.ts';
import { blockAt, headerEntry, headerHex, tipOf } from './headers.ts';
import type { MethodCaller, Methods } from './method.ts';
import { count } from './params.ts';
import { RPC, RpcError } from './rpc.ts';
import type { Subscriptions } from './subscriptions.ts';
import { isAtLeast } from './version.ts';

interface Proof {
  readonly root: string;
  readonly branch: readonly string[];
}

interface HeaderList {
  readonly count: number;
  readonly max: number;
}

export function headerMethods(backend: Backend, subscriptions: Subscriptions): Methods {
  const proofs = new HeaderProofs();

  async function prove(task: Task, query: Query, height: number, checkpoint: number): Promise<Proof> {
    const tip = tipOf(query);
    if (height > checkpoint || checkpoint > tip) {
      const message = `header ${height} must not be above cp_height ${checkpoint}, nor that above the tip ${tip}`;
      throw new RpcError(RPC.badRequest, message);
    }
    const { branch, root } = await proofs.prove(task, query, height, checkpoint);
    return { root: formatId(root), branch: branch.map(formatId) };
  }

  function header(task: Task, query: Query, height: number, checkpoint: number): unknown {
    const hex = headerHex(blockAt(query, height));
    if (checkpoint === 0) return hex;
    return prove(task, query, height, checkpoint).then((proof) => ({ header: hex, ...proof }));
  }

  function headers({ task, version }: MethodCaller, query: Query, start: number, wanted: number, checkpoint: number): unknown {
    const list = headersFrom(query, start, Math.min(wanted, ELECTRUM_HEADERS_MAX));
    const found: HeaderList = { count: list.length, max: ELECTRUM_HEADERS_MAX };
    const answer = { ...found, ...(isAtLeast(version, '1.6') ? { headers: list } : { hex: list.join('') }) };
    if (checkpoint === 0 || list.length === 0) return answer;
    return prove(task, query, start + list.length - 1, checkpoint).then((proof) => ({ ...answer, ...proof }));
  }

  return {
    'blockchain.block.header': {
      names: ['height', 'cp_height'],
      needed: 1,
      run([height, checkpoint = 0], { task }) {
        const [at, to] = [count(height, 'height'), count(checkpoint, 'cp_height')];
        return backend.read((query) => header(task, query, at, to));
      },
    },
    'blockchain.block.headers': {
      names: ['start_height', 'count', 'cp_height'],
      needed: 2,
      run([start, wanted, checkpoint = 0], asker) {
        const [at, many, to] = [count(start, 'start_height'), count(wanted, 'count'), count(checkpoint, 'cp_height')];
        return backend.read((query) => headers(asker, query, at, many, to));
      },
    },
    'blockchain.headers.subscribe': {
      names: [],
      needed: 0,
      run(_, asker) {
        subscriptions.addHeaders(asker);
        return backend.read((query) => headerEntry(query, tipOf(query)));
      },
    },
  };
}

function headersFrom(query: Query, start: number, wanted: number): string[] {
  if (wanted === 0 || start > tipOf(query)) return [];
  const list = [headerHex(blockAt(query, start))];
  for (const row of list.length < wanted ? query.blocksAfter(query.blockAtHeight(start)) : []) {
    if (list.push(headerHex(row)) === wanted) break;
  }
  return list;
}
