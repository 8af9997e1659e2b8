/**
 * What the server's shapes evaluate transactions with: outputs from the store at
 * its newest block, parameters from the node that is followed. One for each
 * server, with one thread for scripts, whichever shape was asked.
 */
import type { FastifyInstance } from 'fastify';
import { Evaluator } from '../../../evaluation/cardano/evaluator.ts';
import type { ScriptUnits } from '../../../evaluation/cardano/outcome.ts';
import { type EvaluationRequest, evaluationRequest, type NamedOutput } from '../../../evaluation/cardano/request.ts';
import { needCardano } from '../../../families/cardano.ts';
import type { CardanoNetwork } from '../../../ledgers/cardano/index.ts';
import { decodeProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import type { Head } from '../../../state/head.ts';
import type { ServerContext } from '../../context.ts';

export class TxEvaluation {
  private readonly context: ServerContext;
  private readonly network: CardanoNetwork;
  private readonly evaluator = new Evaluator();

  constructor(context: ServerContext) {
    this.context = context;
    this.network = needCardano(context.network, 'evaluation').parameters;
  }

  /**
   * What each script of a transaction uses, and the block that its outputs were looked up at. Throws USAGE,
   * OUTPUT_UNKNOWN, SCRIPT_FAILED, CLOSED when whoever asked `isGone` before its turn, and UNSUPPORTED where no node says
   * its parameters or no machine is installed.
   */
  async evaluate(
    tx: Uint8Array,
    additional: readonly NamedOutput[],
    isGone: () => boolean,
  ): Promise<{ readonly scripts: readonly ScriptUnits[]; readonly head: Head | null }> {
    const { network } = this;
    const parameters = decodeProtocolParameters((await this.context.ledger()).parameters);
    const lease = this.context.reads.lease();
    const { head } = lease.query;
    let request: EvaluationRequest;
    try {
      request = evaluationRequest(lease.query, tx, { parameters, network, additional });
    } finally {
      lease.release();
    }
    return { scripts: await this.evaluator.evaluate(request, isGone), head };
  }

  close(): Promise<void> {
    return this.evaluator.close();
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Absent until a shape wants it. */
    readonly txEvaluation?: TxEvaluation;
  }
}

/** That of a server; it is closed with the server. */
export function evaluationOf(app: FastifyInstance, context: ServerContext): TxEvaluation {
  if (app.txEvaluation !== undefined) return app.txEvaluation;
  const evaluation = new TxEvaluation(context);
  app.decorate('txEvaluation', evaluation);
  app.addHook('onClose', () => evaluation.close());
  return evaluation;
}
