import type { FileHandle } from 'node:fs/promises';
import type { ApiResponse } from '../kube/http.ts';
import { backupPath } from '../server/backup-view.ts';
import { checkBackup } from '../storage/backup.ts';
import { writeWhole } from '../storage/whole-file.ts';
import { type OwnKubeconfig, transportOf } from './connection.ts';
import { advised, FailedError } from './errors.ts';
import { refuseBackup } from './files.ts';
import { type OutputFormat, print, printJson } from './output.ts';

/** Has the running server that `kubeconfig` leads to write a backup to `file`: whole and checked, or not at all. */
export async function backupServer(
  kubeconfig: OwnKubeconfig,
  file: string,
  output: OutputFormat,
): Promise<void> {
  refuseBackup(file);
  const transport = await transportOf(kubeconfig);
  try {
    const response = await transport({ method: 'GET', url: backupPath, headers: {} });
    if (response.status !== 200) throw new FailedError(`no backup: ${messageOf(response)}`);
    const done = await writeWhole(file, async (to, partial) => {
      await save(response.body, to);
      return checkBackup(partial).catch((cause: unknown) => {
        throw new FailedError(`the backup broke off; try again (${String(cause)})`);
      });
    });
    if (output === 'json') return printJson({ file, ...done });
    print(`backed up ${done.entries} objects as of revision ${done.revision} to ${file}`);
  } finally {
    transport.close();
  }
}

async function save(body: ApiResponse['body'], output: FileHandle): Promise<void> {
  if (body instanceof Uint8Array) await output.writeFile(body);
  else for await (const bytes of body) await output.writeFile(bytes);
}

function messageOf({ status, body }: ApiResponse): string {
  try {
    const { message } = JSON.parse(Buffer.from(body as Uint8Array).toString('utf8')) as { message?: string };
    if (message) return advised(message);
  } catch {
    // No Status: the number says what there is to say.
  }
  return `the server answered ${status}`;
}
