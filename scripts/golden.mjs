// Packs Kubernetes' serialization fixtures for test/unit/kube/protobuf/golden.test.ts. Run by hand, the output committed:
//   node scripts/golden.mjs "$(go mod download -json k8s.io/api@v0.36.3 | jq -r .Dir)/testdata/HEAD"
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const [dir] = process.argv.slice(2);
if (dir === undefined) throw new Error('name the folder of <group>.<version>.<Kind>.json, .yaml and .pb');
const golden = {};
for (const file of readdirSync(dir).sort()) {
  const name = file.replace(/\.(json|yaml|pb)$/, '');
  const encoding = file.slice(name.length + 1);
  golden[name] ??= {};
  golden[name][encoding] = readFileSync(join(dir, file), encoding === 'pb' ? 'base64' : 'utf8');
}
const text = Buffer.from(JSON.stringify(golden));
const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
const packed = new URL('../test/unit/kube/protobuf/golden.json.br', import.meta.url);
writeFileSync(packed, brotliCompressSync(text, { params }));
