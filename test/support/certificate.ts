/**
 * A certificate for 127.0.0.1 that signs itself, and its key, in files of a
 * directory that is removed again. Made by openssl where it is there.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  readonly tlsCert: string;
  readonly tlsKey: string;
  remove(): void;
}

export function makeCertificate(): Certificate {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-tls-'));
  const [tlsCert, tlsKey] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  if (!madeByOpenssl(tlsCert, tlsKey)) {
    writeFileSync(tlsCert, CERTIFICATE);
    writeFileSync(tlsKey, KEY);
  }
  return { tlsCert, tlsKey, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

function madeByOpenssl(cert: string, key: string): boolean {
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  try {
    execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-out', cert, '-keyout', key], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** For where there is no openssl. Good for nothing but tests on this machine. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUF+mO7/Zh36aCrgnPDngmiesU14wwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTExNTE1MTg1MloYDzIxMjYxMDIy
MTUxODUyWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQL5KXwg0drDJdHitIwLRFMBgH/eFaDUDOwNyiagt0NhK6tlvIh2aU/
j1Wi0dckaiduchSt/ym4EkIk8itKfT2Ho2QwYjAdBgNVHQ4EFgQUqz8WGvLZo0Ea
a2JovyExzOFDjnMwHwYDVR0jBBgwFoAUqz8WGvLZo0Eaa2JovyExzOFDjnMwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IQCOOxtzGYeo4oafDXpatlPygnukBwIQJ1hDFb8fSxTCYwIgBZfjsiVyOfhMglgH
6qzX6znabHNwLp0TACR3FtYRXxw=
-----END CERTIFICATE-----
`;

const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkbmOETBpd6uAw7/X
15xvKHEL8B9PvCj6XWn1CxxlqP6hRANCAAQL5KXwg0drDJdHitIwLRFMBgH/eFaD
UDOwNyiagt0NhK6tlvIh2aU/j1Wi0dckaiduchSt/ym4EkIk8itKfT2H
-----END PRIVATE KEY-----
`;
