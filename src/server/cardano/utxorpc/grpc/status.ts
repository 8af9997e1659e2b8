/**
 * Failures in the words of gRPC: every call goes through here, so that errors of
 * ours have the code that fits their HTTP status, with our own code in the message,
 * and faults of the server are told to its log alone.
 */
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { isUnspentError, UnspentError } from '../../../../util/errors.ts';

const CODES: Readonly<Record<number, Code>> = {
  400: Code.InvalidArgument,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  408: Code.DeadlineExceeded,
  409: Code.Aborted,
  410: Code.OutOfRange,
  413: Code.ResourceExhausted,
  429: Code.ResourceExhausted,
  501: Code.Unimplemented,
  502: Code.Unavailable,
  503: Code.Unavailable,
  504: Code.Unavailable,
};

/** `isToken` null: everybody may ask. */
export function guardCalls(isToken: ((authorization: string | undefined) => boolean) | null, log: (line: string) => void): Interceptor {
  return (next) => async (request) => {
    const translate = (error: unknown): ConnectError => {
      if (isFault(error)) log(`utxorpc: ${request.url}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      return statusOf(error);
    };
    if (isToken !== null && !isToken(request.header.get('authorization') ?? undefined))
      throw statusOf(new UnspentError('UNAUTHORIZED', 'the request has no token, or another one'));
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: translated(response.message, translate) } : response;
    } catch (error) {
      throw translate(error);
    }
  };
}

async function* translated<T>(messages: AsyncIterable<T>, translate: (error: unknown) => ConnectError): AsyncGenerator<T, void, void> {
  try {
    yield* messages;
  } catch (error) {
    throw translate(error);
  }
}

/** Whether it is the server's own: neither what was asked nor what the chain or the node says. */
function isFault(error: unknown): boolean {
  return isUnspentError(error) ? error.status === 500 : !(error instanceof ConnectError);
}

function statusOf(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (!isUnspentError(error) || error.status === 500) return new ConnectError('an error of the server; its log says more', Code.Internal);
  const { code, status, message, advice, meta } = error;
  const reason = typeof meta['reason'] === 'string' && !message.includes(meta['reason']) ? ` (${meta['reason']})` : '';
  return new ConnectError(`${code}: ${message}${reason}. ${advice}`, CODES[status] ?? Code.Unknown);
}
