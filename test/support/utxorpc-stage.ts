/**
 * A server of UTxO RPC over a store whose blocks the test applies and rolls back
 * itself, and the clients of the SDK, as they come from npm, that talk to it.
 */
import { CardanoQueryClient, CardanoSubmitClient, CardanoSyncClient, CardanoWatchClient } from '@utxorpc/sdk';
import { openGrpc } from '../../src/server/cardano/utxorpc/grpc/server.ts';
import type { ShapeServer } from '../../src/server/shapes.ts';
import { Served, type ServedOptions } from './served.ts';

/** The clients of a server, by what they ask. */
export interface UtxoRpcClients {
  readonly query: CardanoQueryClient;
  readonly sync: CardanoSyncClient;
  readonly submit: CardanoSubmitClient;
  readonly watch: CardanoWatchClient;
}

export function utxoRpcClients(port: number, headers: Record<string, string> = {}): UtxoRpcClients {
  const options = { uri: `http://127.0.0.1:${port}`, headers };
  return {
    query: new CardanoQueryClient(options),
    sync: new CardanoSyncClient(options),
    submit: new CardanoSubmitClient(options),
    watch: new CardanoWatchClient(options),
  };
}

export class UtxoRpcStage {
  readonly served: Served;
  readonly clients: UtxoRpcClients;
  readonly port: number;
  /** Lines of its log. A test that expects none of its own need not look: `close` does. */
  readonly logged: string[];
  private readonly server: ShapeServer;

  private constructor(served: Served, server: ShapeServer, logged: string[]) {
    this.served = served;
    this.server = server;
    this.logged = logged;
    this.port = server.ports['grpc'] ?? 0;
    this.clients = utxoRpcClients(this.port);
  }

  static async open(options: ServedOptions = {}): Promise<UtxoRpcStage> {
    const served = await Served.open(options);
    const { context, app, logged } = served;
    const evaluation = app.txEvaluation!;
    const server = await openGrpc({ context, evaluation, log: (line) => logged.push(line) }, 0);
    return new UtxoRpcStage(served, server, logged);
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.served.close();
  }
}
