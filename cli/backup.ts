import { open, rename, rm } from 'node:fs/promises';
import type { ApiResponse } from '../kube/http.ts';
import { backupPath } from '../server/backup-view.ts';
import { checkBackup } from '../storage/backup.ts';
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
  const partial = `${file}.partial`;
  try {
    const response = await transport({ method: 'GET', url: backupPath, headers: {} });
    if (response.status !== 200) throw new FailedError(`no backup: ${messageOf(response)}`);
    await save(response.body, partial);
    const done = await checkBackup(partial).catch((cause: unknown) => {
      throw new FailedError(`the backup broke off; try again (${String(cause)})`);
    });
    await rename(partial, file);
    if (output === 'json') return printJson({ file, ...done });
    print(`backed up ${done.entries} objects as of revision ${done.revision} to ${file}`);
  } finally {
    transport.close();
    await rm(partial, { force: true });
  }
}

/** All secrets are in it: nobody else may read it. */
async function save(body: ApiResponse['body'], file: string): Promise<void> {
  const output = await open(file, 'w', 0o600);
  try {
    if (body instanceof Uint8Array) await output.writeFile(body);
    else for await (const bytes of body) await output.writeFile(bytes);
    await output.sync();
  } finally {
    await output.close();
  }
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
