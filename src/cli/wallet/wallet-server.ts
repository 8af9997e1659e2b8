/**
 * The server on another machine that feeds the wallets and takes their
 * transactions: by options of a command, or by the settings.
 */
import type { Command } from 'commander';
import { UnspentError } from '../../util/errors.ts';
import type { ServerAddress } from '../../wallet/feed/server-client.ts';
import type { Context } from '../context.ts';
import type { CommandOptions } from '../options.ts';
import { tokenFor } from './server-token.ts';

interface ServerFlags extends CommandOptions {
  readonly server?: string;
  readonly serverToken?: string;
  readonly serverTokenFile?: string;
}

/** Of commands that ask a server on another machine. `does`: what it is asked for. */
export function serverOptions(command: Command, does: string): Command {
  return command
    .option('--server <url>', `${does}, such as http://127.0.0.1:8437 (default: wallet.server)`)
    .option(
      '--server-token-file <file>',
      'file with its server.token, where it has one (default: wallet.serverToken, and on this machine UNSPENT_SERVER_TOKEN or the settings)',
    )
    .option('--server-token <token>', 'the token itself; other users of the machine can read it');
}

/** Null: none is named. Throws USAGE, IO. */
export async function walletServer({ options, settings }: Context): Promise<ServerAddress | null> {
  const flags: ServerFlags = options;
  const { server } = flags;
  const { wallet } = settings.config;
  const url = server ?? wallet.server;
  if (url === '') return null;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UnspentError('USAGE', `--server is the URL of a server, such as http://127.0.0.1:8437, not '${url.slice(0, 80)}'`);
  }
  const given = await tokenFor(url, {
    ...flags,
    ownToken: wallet.serverToken === '' ? settings.config.server.token : '',
  });
  const token = given ?? wallet.serverToken;
  return { url, token: token === '' ? undefined : token };
}

/** The same where there has to be one. Throws USAGE. */
export async function neededServer(context: Context): Promise<ServerAddress> {
  const server = await walletServer(context);
  if (server === null) throw new UnspentError('USAGE', 'say which server feeds the wallets: --server http://HOST:8437, or wallet.server');
  return server;
}
