import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownResources } from '../../../cluster/resources.ts';
import { builtinResources } from '../../../kube/schema/builtin.ts';
import { exampleOf, typeErrors } from './examples.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = join(root, 'docs/reference');
const names = ['selectors', 'quantities', 'patches', 'server-side-apply', 'protobuf', 'schemas'];
const pages = names.map((name) => ({
  name,
  example: exampleOf(readFileSync(join(folder, `${name}.md`), 'utf8')),
}));

/** `throws 400: why`, `throws QuantityError: why`: the error's code or name, then its message. */
function thrown(evaluate: () => unknown): string {
  try {
    evaluate();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { code } = error as { code?: unknown };
    return `throws ${typeof code === 'number' ? code : error.name}: ${error.message.replace(/\s+/g, ' ')}`;
  }
  return 'throws nothing';
}

describe.each(pages)('the examples of $name', ({ example }) => {
  it('say what they evaluate to', async () => {
    const load = (path: string): Promise<Record<string, unknown>> => import(resolve(folder, path));
    const wrong: string[] = [];
    let checked = 0;
    await example.run(load, ({ line, text }, evaluate) => {
      checked++;
      const fits = () => {
        if (text.startsWith('throws ')) return expect(thrown(evaluate)).toBe(text);
        const claimed: unknown = new Function(`return (${text})`)();
        return expect(evaluate()).toEqual(claimed);
      };
      try {
        fits();
      } catch (error) {
        wrong.push(`line ${line}: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
    expect(wrong).toEqual([]);
    expect(checked).toBe(example.claims.length);
    expect(checked).toBeGreaterThan(5);
  });
});

it('the examples are well typed', () => {
  const modules = pages.map(({ name, example }): [string, string] => [
    join(folder, `${name}.ts`),
    example.code,
  ]);
  expect(typeErrors(new Map(modules), root)).toEqual([]);
});

describe('api.md', () => {
  const text = readFileSync(join(folder, 'api.md'), 'utf8');
  const served = [...builtinResources, ...ownResources.map(({ info }) => info)];

  it('lists the resources that are served', () => {
    const rows = text.matchAll(/^\| (\(core\)|[a-z0-9.]+) \| (v\d\w*) \| (.*) \|$/gm);
    const listed = [...rows].flatMap(([, group = '', version, names = '']) =>
      names.split(', ').map((name) => `${group === '(core)' ? '' : group}/${version}/${name}`),
    );
    expect(listed.sort()).toEqual(
      served.map(({ group, version, resource }) => `${group}/${version}/${resource}`).sort(),
    );
  });

  it('counts them', () => {
    const count = (of: (resource: (typeof builtinResources)[number]) => string) =>
      new Set(builtinResources.map(of)).size;
    const subresources = builtinResources.flatMap((resource) => resource.subresources).length;
    expect(text).toContain(
      `${builtinResources.length} resources in ${count((r) => `${r.group}/${r.version}`)} versions of ` +
        `${count((r) => r.group)} groups, with ${subresources} subresources`,
    );
  });
});

describe('the examples of a page', () => {
  const page = (code: string) =>
    ['# A page', '```sh', 'ls', '```', '```ts', code, '```', 'the end'].join('\n');
  const run = async (code: string) => {
    const seen: unknown[] = [];
    const { run: go } = exampleOf(page(code));
    await go(
      async (path) => ({ answer: path }),
      ({ line, text }, evaluate) => seen.push([line, text, evaluate()]),
    );
    return seen;
  };

  it.each<[string, string, unknown[]]>([
    ['a comment on the line', '1 + 1 // 2', [[6, '2', 2]]],
    ['a comment below', "'a' + 'b'\n// 'a' +\n// 'b'", [[6, "'a' + 'b'", 'ab']]],
    ['types go', 'const a: number = 3\na satisfies number // 3', [[7, '3', 3]]],
    [
      'imports are the page’s',
      "import { answer as it, type X } from './x.ts'\nit // './x.ts'",
      [[7, "'./x.ts'", './x.ts']],
    ],
  ])('%s', async (_, code, expected) => expect(await run(code)).toEqual(expected));

  it('must say what they are', () => {
    expect(() => exampleOf(page('1 + 1'))).toThrow('line 6: an expression without a comment');
  });

  it('are checked by the compiler', () => {
    const file = join(folder, 'wrong.ts');
    expect(typeErrors(new Map([[file, 'const a: number = "x"']]), root)).toEqual([
      `${file}:1: Type 'string' is not assignable to type 'number'.`,
    ]);
  });
});
