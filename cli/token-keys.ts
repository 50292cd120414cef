import type { ShownKey } from '../server/account-keys.ts';
import { accountKeysPath } from '../server/account-keys-view.ts';
import { type OwnKubeconfig, transportOf } from './connection.ts';
import { advised, FailedError } from './errors.ts';
import { type OutputFormat, print, printJson, table } from './output.ts';

/** Asks the running server that `kubeconfig` leads to, and prints the keys that there are then. */
export async function tokenKeys(
  kubeconfig: OwnKubeconfig,
  output: OutputFormat,
  method: string,
  query: string,
): Promise<void> {
  const transport = await transportOf(kubeconfig);
  try {
    const { status, body } = await transport({ method, url: `${accountKeysPath}${query}`, headers: {} });
    const said = JSON.parse(await textOf(body)) as { keys?: ShownKey[]; message?: string };
    if (said.keys === undefined)
      throw new FailedError(advised(said.message ?? `the server answered ${status}`));
    if (output === 'json') return printJson(said.keys);
    print(
      table(
        ['KID', 'SIGNS', 'SINCE'],
        said.keys.map(({ kid, signs, signsSince }) => [
          kid,
          signs ? 'yes' : 'no',
          signsSince ?? 'its beginning',
        ]),
      ),
    );
  } finally {
    transport.close();
  }
}

async function textOf(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
