import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { programs } from '../kubernetes/kubernetes.ts';

const run = promisify(execFile);
const here = new URL('.', import.meta.url).pathname;
const cache = join(dirname(programs), 'clients');
const pythonClient = 'kubernetes==37.0.2';

/** A released kubectl and helm, or the sentence that says why they cannot be had here. */
export async function released(version: string): Promise<{ kubectl: string; helm: string } | string> {
  if (version === '1.36') return { kubectl: join(programs, 'kubectl'), helm: '' };
  const folder = await attempt(join(here, 'build-kubectl'), [version], { KUBERNETES_CLIENTS: cache });
  return folder instanceof Error
    ? folder.message
    : { kubectl: join(folder, 'kubectl'), helm: join(folder, 'helm') };
}

/** The program of test/clients/go, built; or why not. */
export async function goClients(): Promise<{ program: string } | string> {
  const program = join(cache, 'go-clients');
  await mkdir(cache, { recursive: true });
  const env = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' };
  const built = await attempt('go', ['build', '-C', join(here, 'go'), '-trimpath', '-o', program, '.'], env);
  return built instanceof Error
    ? `the client-go tests need Go 1.26 and its module proxy: ${built.message}`
    : { program };
}

/** A Python that has the official client; or why not. */
export async function pythonClients(): Promise<{ program: string } | string> {
  const venv = join(cache, 'python');
  const program = join(venv, 'bin', 'python');
  const needs = `the Python tests need Python 3.10 with venv, and ${pythonClient} from the package index`;
  if (!existsSync(join(venv, '.installed'))) {
    for (const [file, args] of [
      ['python3', ['-m', 'venv', venv]],
      [program, ['-m', 'pip', 'install', '--quiet', pythonClient]],
      ['touch', [join(venv, '.installed')]],
    ] as const) {
      const done = await attempt(file, args, {});
      if (done instanceof Error) return `${needs}: ${done.message}`;
    }
  }
  return { program };
}

async function attempt(
  file: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string | Error> {
  try {
    const { stdout } = await run(file, args, {
      env: { ...process.env, ...env },
      timeout: 600_000,
      maxBuffer: 16 << 20,
    });
    return stdout.trim();
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    return new Error((stderr || message).trim());
  }
}
