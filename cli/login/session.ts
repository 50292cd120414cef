import { chmod, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { numberAt, textAt } from '../../kube/untyped.ts';
import { FailedError } from '../errors.ts';

/** What a sign-in gave. Kept in a file that nobody else may read. */
export interface Session {
  idToken: string;
  /** Of the claims `iat` and `exp`, in seconds. */
  issued: number;
  expires: number;
  /** Of the claim `sub`. */
  subject: string;
  /** Undefined: the issuer gave none, or has taken it back. */
  refreshToken?: string;
  /** The client's, where it has one. */
  clientSecret?: string;
}

/** Undefined: there is none, or none that can be read. */
export async function readSession(file: string): Promise<Session | undefined> {
  let kept: unknown;
  try {
    kept = JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
  const [idToken, subject] = [textAt(kept, 'idToken'), textAt(kept, 'subject')];
  const [issued, expires] = [numberAt(kept, 'issued'), numberAt(kept, 'expires')];
  if (!idToken || subject === undefined || issued === undefined || expires === undefined) return undefined;
  const [refreshToken, clientSecret] = [textAt(kept, 'refreshToken'), textAt(kept, 'clientSecret')];
  return {
    idToken,
    subject,
    issued,
    expires,
    ...(refreshToken && { refreshToken }),
    ...(clientSecret && { clientSecret }),
  };
}

export async function writeSession(file: string, session: Session): Promise<void> {
  const { writePrivate } = await import('../../server/private-file.ts');
  await writePrivate(file, `${JSON.stringify(session)}\n`);
}

/** Longer than a sign-in takes, and one that somebody else waits for. */
const patienceMs = 300_000;

/** Runs while no other process does the same for that file; the lock of one that was killed is nobody's. Throws FailedError. */
export async function locked<T>(file: string, run: () => Promise<T>): Promise<T> {
  const directory = dirname(file);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  const release = await take(`${file}.lock`);
  try {
    return await run();
  } finally {
    await release();
  }
}

async function take(lock: string): Promise<() => Promise<void>> {
  const [{ takeOwnership }, { StoreError }] = await Promise.all([
    import('../../storage/level/owner.ts'),
    import('../../storage/store.ts'),
  ]);
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await setTimeout(50)) {
    try {
      return await takeOwnership(lock);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }
  throw new FailedError(`another atoll login holds ${lock}: end it first`);
}
