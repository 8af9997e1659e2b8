/** What can be done where the system refuses: by the reason it gave, which is in an error or in one of its causes. */

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Is the node running, and does it listen on that port and address?',
  ECONNRESET: 'The other side ended the connection; its log may say why.',
  ENOTFOUND: 'Is the name of the host right? This machine cannot resolve it.',
  EAI_AGAIN: 'The name server does not answer: check the network of this machine, or give the address as a number.',
  ETIMEDOUT: 'Nothing answers there: check the address, and whether a firewall is in between.',
  EHOSTUNREACH: 'There is no way to that host from here: check the address and the network.',
  ENETUNREACH: 'There is no way to that network from here: check the address and the network.',
  ENOENT: 'Check the path: there is nothing of that name.',
  ENOTDIR: 'Check the path: a part of it is a file.',
  EISDIR: 'Name a file: that is a directory.',
  EEXIST: 'Choose another name, or move away what is there.',
  EACCES: 'Run it as the user who owns it, or give this user the right to it.',
  EPERM: 'Run it as the user who owns it, or give this user the right to it.',
  EROFS: 'The file system is mounted read-only: choose another directory, or mount it writable.',
  EMFILE: 'This process has as many files open as it may: raise the limit (ulimit -n).',
  ENFILE: 'The system has as many files open as it may.',
  EIO: 'The disk fails: look at the log of the system before anything else.',
  EADDRINUSE: 'Another program has that port: choose another with --port, or stop it.',
  EADDRNOTAVAIL: 'This machine does not have that address: 127.0.0.1 is itself, 0.0.0.0 all of its addresses.',
};

/** Undefined: the system gave no reason that we know. */
export function systemAdvice(cause: unknown): string | undefined {
  for (let each = cause, depth = 0; each instanceof Error && depth < 10; each = each.cause, depth++) {
    const { code } = each as NodeJS.ErrnoException;
    if (code !== undefined && Object.hasOwn(ADVICE, code)) return ADVICE[code];
  }
  return undefined;
}
