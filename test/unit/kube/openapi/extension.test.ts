import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../kube/object.ts';
import { withAddition } from '../../../../kube/openapi/addition.ts';
import { additionOf, otherSwagger } from '../../../../kube/openapi/extension.ts';
import { OpenApi } from '../../../../kube/openapi/openapi.ts';
import { builtinResources } from '../../../../kube/schema/builtin.ts';

const gv = { group: 'g.example.com', version: 'v1' };
const kind = { ...gv, kind: 'A' };
const foreign = { group: 'apps', version: 'v1', kind: 'Deployment' };
const word = 'x-kubernetes-group-version-kind';
const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
const at = '/apis/g.example.com/v1/';
const read = (document: object, of = gv, defined: string[] = []) =>
  otherSwagger(document as JsonObject, of, new Set(defined), () => undefined);
const added = (others: Awaited<ReturnType<typeof read>>[], defined: string[] = []) =>
  additionOf(others, defined, () => undefined);
const merged = async (others: Awaited<ReturnType<typeof read>>[], defined: string[] = []) => {
  const { paths, definitions, parameters } = await added(others, defined);
  return JSON.parse(`{"paths":{${paths}},"definitions":{${definitions}},"parameters":{${parameters}}}`);
};

describe('of another server’s OpenAPI 2', () => {
  test('is taken what is below its own path, and what that refers to', async () => {
    const own = {
      get: { parameters: [{ $ref: '#/parameters/p' }], responses: { 200: { schema: ref('A') } } },
    };
    const document = {
      paths: { [`${at}as`]: own, '/apis/apps/v1/deployments': { get: {} }, '/apis/g.example.com/v10/as': {} },
      definitions: { A: { properties: { b: ref('B'), meta: ref('M') } }, B: {}, C: {}, M: {} },
      parameters: { p: { name: 'p', in: 'query' }, q: {} },
    };
    expect(await merged([await read(document, gv, ['M'])])).toEqual({
      paths: { [`${at}as`]: own },
      definitions: { A: { properties: { b: ref('B'), meta: ref('M') } }, B: {} },
      parameters: { p: { name: 'p', in: 'query' } },
    });
  });

  test('nothing is believed of the kinds of other groups', async () => {
    const document = {
      paths: { [`${at}as`]: { patch: { [word]: foreign, schema: ref('A') }, get: { [word]: kind } } },
      definitions: { A: { [word]: [foreign, kind], properties: { b: ref('B') } }, B: { [word]: [foreign] } },
    };
    const { paths, definitions } = await merged([await read(document)]);
    expect(paths[`${at}as`]).toEqual({ patch: { schema: ref('A') }, get: { [word]: kind } });
    expect(definitions).toEqual({ A: { [word]: [kind], properties: { b: ref('B') } }, B: {} });
  });

  test('what has a name that means something else gets another, in whatever refers to it', async () => {
    const of = (version: string, text: string) => {
      const paths = { [`/apis/g.example.com/${version}/as`]: { get: ref('A') } };
      const definitions = { A: { description: text, properties: { b: ref('B') } }, B: { type: 'string' } };
      return read({ paths, definitions }, { group: gv.group, version });
    };
    const all = await Promise.all([of('v1', 'one'), of('v2', 'two')]);
    const { paths, definitions } = await merged(all, ['B']);
    expect(Object.values(paths)).toEqual([{ get: ref('A') }, { get: ref('A_v2') }]);
    expect(definitions).toEqual({
      A: { description: 'one', properties: { b: ref('B_v2') } },
      A_v2: { description: 'two', properties: { b: ref('B_v3') } },
      B_v2: { type: 'string' },
      B_v3: { type: 'string' },
    });
    const twice = await Promise.all([of('v1', 'one'), of('v2', 'one')]);
    expect(Object.keys((await merged(twice)).definitions)).toEqual(['A', 'B']);
    const { protobuf } = await added(all, ['B']);
    expect(Buffer.from(protobuf).toString('latin1')).toContain('#/definitions/B_v3');
  });

  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });
  test.each([
    ['refers to what is not there', { [`${at}as`]: ref('none') }],
    ['refers to elsewhere', { [`${at}as`]: { $ref: 'https://elsewhere/#/definitions/A' } }],
    ['refers to what has a name of another kind', { [`${at}as`]: { $ref: '#/paths/x' } }],
    ['is too deep', { [`${at}as`]: deep(101) }],
    ['has too much in one piece', { [`${at}as`]: Array(20_001).fill({}) }],
  ])('one that %s is not taken', async (_what, paths) => {
    await expect(read({ paths, definitions: {} })).rejects.toThrow();
  });

  test('a name is a name, whatever it means to JavaScript', async () => {
    const definitions = JSON.parse('{"__proto__":{"properties":{"__proto__":{"type":"string"}}}}');
    const document = { paths: { [`${at}as`]: { get: ref('__proto__') } }, definitions };
    const text = (await added([await read(document)])).definitions;
    expect(text).toBe('"__proto__":{"properties":{"__proto__":{"type":"string"}}}');
  });

  test('a name that has to be escaped is another’s no more than any', async () => {
    const odd = 'a\\"b\\';
    const of = (version: string, text: string) => {
      const paths = { [`/apis/g.example.com/${version}/as`]: { get: ref(odd) } };
      return read({ paths, definitions: { [odd]: { title: text } } }, { group: gv.group, version });
    };
    const { paths, definitions } = await merged(await Promise.all([of('v1', 'one'), of('v2', 'two')]));
    expect(Object.values(paths)).toEqual([{ get: ref(odd) }, { get: ref(`${odd}_v2`) }]);
    expect(definitions).toEqual({ [odd]: { title: 'one' }, [`${odd}_v2`]: { title: 'two' } });
  });

  test('what gets another name is written in steps that leave others their turn', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `D${at}`);
    const of = (version: string) => {
      const paths = { [`/apis/g.example.com/${version}/as`]: { get: names.map(ref) } };
      const definitions = Object.fromEntries(names.map((name) => [name, { title: version }]));
      return read({ paths, definitions }, { group: gv.group, version });
    };
    let steps = 0;
    await additionOf(await Promise.all([of('v1'), of('v2')]), [], () => void steps++);
    expect(steps).toBe(101);
  });

  test('long integers stay as they are', async () => {
    const document = { paths: { [`${at}as`]: { get: { maximum: 9223372036854775807n } } } };
    expect((await added([await read(document)])).paths).toContain('9223372036854775807');
  });
});

test('our own document stays as it is beside what is added', () => {
  const api = new OpenApi(builtinResources);
  const own = JSON.parse(Buffer.from(api.v2().bytes).toString());
  const addition = {
    paths: '"/a":{}',
    definitions: '"A":{"x":1}',
    parameters: '"p":{}',
    protobuf: Buffer.of(1),
    hash: 'A',
  };
  const whole = JSON.parse(Buffer.from(withAddition(api.v2().bytes, addition)).toString());
  expect(whole).toEqual({
    ...own,
    paths: { ...own.paths, '/a': {} },
    definitions: { ...own.definitions, A: { x: 1 } },
    parameters: { p: {} },
  });
  expect(new Set(api.definitionNames())).toEqual(new Set(Object.keys(own.definitions)));
  expect(api.v2(addition).hash).not.toBe(api.v2().hash);
  expect(Buffer.from(api.v2Protobuf(addition).bytes).at(-1)).toBe(1);
});
