import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile } from './compile.ts';

/** All that kube/ may need of others. */
const packages = ['@marcbachmann/cel-js', 'js-yaml', 're2js'];
const installed = resolve(import.meta.dirname, '../../node_modules');

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kube-alone-'));
  await compile(['kube'], folder);
  await rm(join(folder, 'node_modules'));
  for (const name of packages) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(await realpath(join(installed, name)), link);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(script: string): Promise<unknown> {
  const file = join(folder, 'run.js');
  await writeFile(file, script);
  const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 30_000 });
  return JSON.parse(stdout);
}

test('kube/ loads by itself, every file of it', async () => {
  const files = await readdir(join(folder, 'kube'), { recursive: true });
  const modules = files.filter((file) => file.endsWith('.js'));
  expect(modules.length).toBeGreaterThan(200);
  const script = `await Promise.all(${JSON.stringify(modules)}.map((file) => import('./kube/' + file)));
    console.log('true')`;
  expect(await run(script)).toBe(true);
});

test('OpenAPI has its descriptions without any other package', async () => {
  const counts = await run(`
    import { openapiV3Document } from './kube/openapi/openapi.js';
    import { docsOf } from './kube/openapi/docs.js';
    import { builtinResources } from './kube/schema/builtin.js';
    const { components } = openapiV3Document({ group: 'apps', version: 'v1' }, builtinResources);
    const schemas = Object.values(components.schemas);
    const fields = schemas.flatMap(({ properties = {} }) => Object.values(properties));
    console.log(JSON.stringify({
      schemas: schemas.length,
      described: [...schemas, ...fields].filter(({ description }) => description).length,
      docs: docsOf('io.k8s.api.apps.v1.Deployment').fields.size,
    }))`);
  const { schemas, described, docs } = counts as Record<string, number>;
  expect(schemas).toBeGreaterThan(100);
  expect(described).toBeGreaterThan(900);
  expect(docs).toBe(5);
});
