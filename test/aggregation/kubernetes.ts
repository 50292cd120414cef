import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority, loadAuthority } from '../../apiserver/tls/ca.ts';

/** Of a kube-apiserver that passes requests on, with an authority and a certificate such as Atoll makes by itself. */
export async function aggregatorFlags(folder: string): Promise<string[]> {
  const authority = await createAuthority('request-header');
  const { certificate, privateKey } = await (await loadAuthority(authority)).issueClient(
    'front-proxy-client',
    [],
  );
  const files = { ca: authority.certificate, crt: certificate, key: privateKey };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return [
    `--requestheader-client-ca-file=${join(folder, 'ca')}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-uid-headers=X-Remote-Uid',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${join(folder, 'crt')}`,
    `--proxy-client-key-file=${join(folder, 'key')}`,
    '--enable-aggregator-routing=true',
  ];
}
