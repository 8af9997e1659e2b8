/** Which token a server is shown: the one that was given, or our own where it runs on this machine. */
import { isLoopback } from '../../server/http/safety.ts';
import { SERVER_TOKEN_BYTES_MAX } from '../../util/limits.ts';
import { readOperand } from '../read-operand.ts';

/** Where the token for a server may come from: flags, and the setting `server.token`. */
interface TokenSources {
  readonly serverToken?: string;
  readonly serverTokenFile?: string;
  readonly ownToken: string;
}

/** Our own server's token is for servers of this machine: others are told what was meant for them, and nothing else. Throws IO, LIMIT. */
export async function tokenFor(server: string, { serverToken, serverTokenFile, ownToken }: TokenSources): Promise<string | undefined> {
  if (serverToken !== undefined) return serverToken;
  if (serverTokenFile !== undefined) return new TextDecoder().decode(await readOperand(serverTokenFile, SERVER_TOKEN_BYTES_MAX)).trim();
  return ownToken !== '' && URL.canParse(server) && isLoopback(new URL(server).hostname) ? ownToken : undefined;
}
