// Packs Kubernetes' serialization fixtures for test/unit/kube/protobuf/golden.test.ts.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { moduleFolder } from './modules.mjs';

export function write(root) {
  const from = join(moduleFolder('k8s.io/api'), 'testdata/HEAD');
  const golden = {};
  for (const file of readdirSync(from).sort()) {
    // <group>.<version>.<Kind>.json, .yaml and .pb
    const name = file.replace(/\.(json|yaml|pb)$/, '');
    const encoding = file.slice(name.length + 1);
    golden[name] ??= {};
    golden[name][encoding] = readFileSync(join(from, file), encoding === 'pb' ? 'base64' : 'utf8');
  }
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  const packed = join(root, 'test/unit/kube/protobuf/golden.json.br');
  mkdirSync(dirname(packed), { recursive: true });
  writeFileSync(packed, brotliCompressSync(Buffer.from(JSON.stringify(golden)), { params }));
}
