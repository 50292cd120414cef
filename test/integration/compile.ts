import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '../..');

/** Turns folders of this repository into JavaScript under `target`, for tests that need a process of their own. */
export async function compile(folders: readonly string[], target: string): Promise<void> {
  await symlink(join(ROOT, 'node_modules'), join(target, 'node_modules'));
  await cp(join(ROOT, 'package.json'), join(target, 'package.json'));
  for (const folder of folders) {
    for (const file of await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      const source = join(file.parentPath, file.name);
      if (/\.(json|json\.gz|yaml)$/.test(file.name)) await cp(source, join(target, relative(ROOT, source)));
      if (!file.isFile() || !file.name.endsWith('.ts')) continue;
      const { outputText } = ts.transpileModule(await readFile(source, 'utf8'), {
        compilerOptions: {
          module: ts.ModuleKind.ESNext,
          target: ts.ScriptTarget.ES2023,
          rewriteRelativeImportExtensions: true,
        },
      });
      const output = join(target, relative(ROOT, source)).replace(/\.ts$/, '.js');
      await mkdir(join(output, '..'), { recursive: true });
      await writeFile(output, outputText);
    }
  }
}
