/**
 * Why a server cannot listen, as an error of ours. A file of its own, so that
 * commands that only try a port do not load the server.
 */
import { UnspentError } from '../../util/errors.ts';

export function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): UnspentError {
  const { code } = error;
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    const message = `port ${port} on ${host} is taken, perhaps by another unspent; stop that one, or choose a port with --port N`;
    return new UnspentError('IO', message, { host, port, taken: true }, error);
  }
  if (code === 'EACCES')
    return new UnspentError('IO', `listening on ${where} is not permitted; ports from 1024 on are free to use`, { host, port }, error);
  return new UnspentError(
    'IO',
    `cannot listen on ${where}: ${error.message}; server.host must be an address of this machine`,
    { host, port },
    error,
  );
}
