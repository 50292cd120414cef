import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const script = join(import.meta.dirname, '../../../scripts/generate/main.mjs');

test('a part that there is not is wrong use, said in a sentence', async () => {
  await expect(promisify(execFile)(process.execPath, [script, 'roles', 'nonsense'])).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'there is no part nonsense; there are: types, resources, roles, fixtures\n',
  });
});
