/** A file that is named on the command line, or standard input where that is `-`. */
import { readRegularLater } from '../files/regular.ts';
import { UnspentError } from '../util/errors.ts';

/** Throws IO, LIMIT. */
export async function readOperand(file: string, bytesMax: number): Promise<Uint8Array> {
  return file === '-' ? readStandardInput(bytesMax) : readFile(file, bytesMax);
}

async function readFile(file: string, bytesMax: number): Promise<Uint8Array> {
  try {
    return await readRegularLater(file, { bytesMax, links: 'follow' });
  } catch (error) {
    if (error instanceof UnspentError) throw error;
    throw new UnspentError('IO', `'${file.slice(0, 200)}' cannot be read: ${(error as Error).message}`, {}, error);
  }
}

async function readStandardInput(bytesMax: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > bytesMax) throw new UnspentError('LIMIT', `standard input has more than ${bytesMax} bytes`, { limit: bytesMax });
  }
  return Buffer.concat(chunks);
}
