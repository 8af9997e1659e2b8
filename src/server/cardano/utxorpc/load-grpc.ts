/**
 * The door to `grpc/`. The packages that speak gRPC and know the messages of
 * UTxO RPC are installed only where it is served; without them this says which.
 */
import { UnspentError } from '../../../util/errors.ts';
import { missingPackage } from '../../../util/missing-package.ts';

type Grpc = typeof import('./grpc/server.ts');

const PACKAGES = ['@bufbuild/protobuf', '@connectrpc/connect', '@connectrpc/connect-node', '@utxorpc/spec'];
/** In the versions whose messages clients have on the wire: docs/adr/0054. */
const INSTALL = 'npm install @bufbuild/protobuf@1 @connectrpc/connect@1 @connectrpc/connect-node@1 @utxorpc/spec@0.17';

/** Throws UNSUPPORTED where a package is not installed. */
export async function loadGrpc(load: () => Promise<Grpc> = () => import('./grpc/server.ts')): Promise<Grpc> {
  try {
    return await load();
  } catch (cause) {
    const missing = missingPackage(cause, 'servers of UTxO RPC', PACKAGES);
    if (missing === undefined) throw cause;
    throw new UnspentError('UNSUPPORTED', `UTxO RPC (utxorpc.port) needs packages that are not installed: ${INSTALL}`, missing.meta, cause);
  }
}
