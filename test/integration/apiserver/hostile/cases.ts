/** One request of somebody who means harm, and what kube-apiserver 1.36 answers. */
export interface Hostile {
  name: string;
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  code: number;
  reason?: string;
  /** What the message must hold; a text stands for itself. */
  message?: string | RegExp;
}

export const configMaps = '/api/v1/namespaces/default/configmaps';
export const widgets = '/apis/hostile.example/v1/namespaces/default/widgets';
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const json = { 'content-type': 'application/json' };
const yaml = { 'content-type': 'application/yaml' };
const protobuf = { 'content-type': 'application/vnd.kubernetes.protobuf' };
const strict = `${configMaps}?fieldValidation=Strict`;
const mebibyte = 1024 * 1024;

const map = (metadata: string, rest = '') => `{"metadata":{"name":"h",${metadata}}${rest}}`;

function laughs(levels: number): string {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
  for (let i = 1; i < levels; i++)
    lines.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(',')}]`,
    );
  return lines.join('\n');
}

/** The envelope of Kubernetes' protobuf around the bytes of a ConfigMap. */
function envelope(raw: Uint8Array, kind = 'ConfigMap'): Buffer {
  const field = (number: number, bytes: Uint8Array) =>
    Buffer.concat([Buffer.from([(number << 3) | 2]), varint(bytes.length), bytes]);
  const type = Buffer.concat([field(1, Buffer.from('v1')), field(2, Buffer.from(kind))]);
  return Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, raw)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

/** A kind with a 64-bit number, a field of any shape, and columns whose paths are bombs. */
export const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.hostile.example' },
  spec: {
    group: 'hostile.example',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Odd', type: 'string', jsonPath: `.spec.any${'[*]'.repeat(200)}.x` },
          { name: 'Long', type: 'string', jsonPath: `.spec.${'a'.repeat(100_000)}` },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  n: { type: 'integer', format: 'int64' },
                  any: { 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const post = (name: string, body: string | Uint8Array, rest: Omit<Hostile, 'name' | 'body'>): Hostile => ({
  method: 'POST',
  path: configMaps,
  headers: json,
  ...rest,
  name,
  body,
});
const get = (name: string, path: string, rest: Omit<Hostile, 'name' | 'path'>): Hostile => ({
  method: 'GET',
  ...rest,
  name,
  path,
});

const deep = (levels: number) =>
  `{"metadata":{"name":"h"},"data":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
const bad = { code: 400, reason: 'BadRequest' } as const;
const unprocessable = { code: 422, reason: 'Invalid' } as const;

export const bodies: readonly Hostile[] = [
  post('nesting of 10,001', deep(10_000), { ...bad, message: 'exceeded max depth' }),
  post('3 MiB of [', '['.repeat(3 * mebibyte), { ...bad, message: 'exceeded max depth' }),
  post('3 MiB of {"a":', '{"a":'.repeat(600_000), { ...bad, message: 'exceeded max depth' }),
  post('3 MiB of spaces', ' '.repeat(3 * mebibyte), bad),
  post('a byte more than 3 MiB', ' '.repeat(3 * mebibyte + 1), {
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: 'limit is 3145728',
  }),
  post('3 MiB of quotes and backslashes', `"${'\\"'.repeat(1_500_000)}`, bad),
  post('an unfinished string', `{"metadata":{"name":"${'x'.repeat(mebibyte)}`, bad),
  post('not JSON at all', Buffer.from([0xff, 0xfe, 0, 1, 2, 3]), bad),
  post('nothing', '', bad),
  post('null', 'null', unprocessable),
  post('an array', '[]', bad),
  post('a duplicate key', map('"name":"i"'), {
    ...bad,
    path: strict,
    message: 'duplicate field "metadata.name"',
  }),
  post('100,000 duplicate keys', map(Array(100_000).fill('"name":"i"').join(',')), {
    ...bad,
    path: strict,
    message: 'duplicate field "metadata.name"',
  }),
  post('100,000 unknown fields', map(counted(100_000, (i) => `"u${i}":1`)), {
    ...bad,
    path: strict,
    message: 'unknown field "metadata.u0"',
  }),
  post('a number too large for an int64', map('"generation":9223372036854775808'), {
    ...bad,
    message: 'cannot unmarshal number 9223372036854775808 into Go struct field',
  }),
  post('a number of 100,000 digits', map(`"generation":${'9'.repeat(100_000)}`), bad),
  post('an exponent of 400', map('"generation":1e400'), bad),
  post('a string where a number belongs', map('"generation":"1"'), bad),
  post('a __proto__ label', map('"labels":{"__proto__":"x"}'), {
    ...unprocessable,
    message: 'metadata.labels: Invalid value: "__proto__"',
  }),
  post('a __proto__ of its own', map('"labels":{}', ',"__proto__":{"data":{"a":"b"}}'), {
    ...bad,
    path: strict,
    message: 'unknown field "__proto__"',
  }),
  post(
    '100,000 labels that are none',
    map(`"labels":{${counted(100_000, (i) => `"-${i}":"v"`)}}`),
    // kube-apiserver answers 504 after 34 seconds of work.
    {
      ...unprocessable,
      message: 'metadata.labels: Too many: 100000: must have at most 10000 items',
    },
  ),
  post('100,000 labels', map(`"labels":{${counted(100_000, (i) => `"l${i}":"v"`)}}`), {
    ...unprocessable,
  }),
  post('a label of 1 MiB', map(`"labels":{"a":"${'v'.repeat(mebibyte)}"}`), unprocessable),
  post('a name of 1 MiB', `{"metadata":{"name":"${'n'.repeat(mebibyte)}"}}`, unprocessable),
  post('a name with a newline and colours', '{"metadata":{"name":"a\\n\\u001b[31mb"}}', unprocessable),
  post('a NUL in a name', '{"metadata":{"name":"a\\u0000b"}}', unprocessable),
  post('a lone surrogate in a name', '{"metadata":{"name":"a\\ud800"}}', unprocessable),
  post('bad UTF-8 in a name', Buffer.from('{"metadata":{"name":"a\xff"}}', 'latin1'), unprocessable),
  post('a key of data with a path in it', map('"x":1', ',"data":{"../../etc":"x"}'), unprocessable),
  post('400 KB of annotations', map(`"annotations":{"a":"${'v'.repeat(400_000)}"}`), {
    ...unprocessable,
    message: 'metadata.annotations: Too long: may not be more than 262144 bytes',
  }),
  post(
    '10,000 finalizers that are none',
    map(`"finalizers":[${counted(10_000, () => '"!"')}]`),
    unprocessable,
  ),
];

export const otherEncodings: readonly Hostile[] = [
  post('a billion laughs', `metadata: {name: h}\n${laughs(12)}`, { ...bad, headers: yaml }),
  post('anchors in data', `metadata: {name: h}\n${laughs(6)}\ndata: {a: *a5}`, { ...bad, headers: yaml }),
  post('YAML, 100,000 deep', `a: ${'['.repeat(100_000)}`, { ...bad, headers: yaml }),
  post('YAML, 100,000 aliases', `a: &a x\nb: [${Array(100_000).fill('*a').join(',')}]`, {
    ...unprocessable,
    headers: yaml,
  }),
  post('YAML, 3 MiB of question marks', '? '.repeat(1.5 * mebibyte), { ...bad, headers: yaml }),
  post('YAML, 3 MiB of dashes', '- '.repeat(1.5 * mebibyte), { ...bad, headers: yaml }),
  post('YAML, an anchor in itself', 'a: &a [*a]', { ...bad, headers: yaml }),
  post('protobuf, nothing but the mark', 'k8s\0', { ...bad, headers: protobuf }),
  post('protobuf, no mark', '{"metadata":{}}', { ...bad, headers: protobuf }),
  post('protobuf, cut', envelope(Buffer.from([0x0a, 100, 0x0a])), { ...bad, headers: protobuf }),
  post('protobuf, a length of 2^63', envelope(Buffer.from([0x0a, ...Array(9).fill(0xff), 1])), {
    ...bad,
    headers: protobuf,
  }),
  post('protobuf, a varint of 1 MiB', envelope(Buffer.alloc(mebibyte, 0xff)), { ...bad, headers: protobuf }),
  post('protobuf, the wrong wire type', envelope(Buffer.from([0x08, 1])), { ...bad, headers: protobuf }),
  post('protobuf, groups in groups', envelope(Buffer.alloc(100_000, 0x7b)), { ...bad, headers: protobuf }),
  post('an unknown encoding', '<xml/>', {
    code: 415,
    reason: 'UnsupportedMediaType',
    headers: { 'content-type': 'text/xml\u00ff' },
  }),
  post('an encoding of 100 KB', '{}', {
    code: 415,
    reason: 'UnsupportedMediaType',
    headers: { 'content-type': `a/${'b'.repeat(100_000)}` },
  }),
];

const selector = (text: string) => `${configMaps}?labelSelector=${encodeURIComponent(text)}`;

export const urls: readonly Hostile[] = [
  get('a selector of 100 KB of (', selector('('.repeat(100_000)), bad),
  get('a selector of 100 KB of a in (', selector('a in ('.repeat(15_000)), bad),
  get('a selector of 100 KB of !', selector('!'.repeat(100_000)), bad),
  get('a selector of 100 KB of spaces', selector(`a${' '.repeat(100_000)}b`), bad),
  get('a selector of 50,000 values', selector(`a in (${counted(50_000, (i) => `v${i}`)})`), { code: 200 }),
  get('a selector of 20,000 requirements', selector(counted(20_000, (i) => `a${i}`)), { code: 200 }),
  get('a field selector of 100 KB', `${configMaps}?fieldSelector=${'a%3Db,'.repeat(15_000)}`, bad),
  get('a continue token that is none', `${configMaps}?continue=${'A'.repeat(100_000)}`, bad),
  get(
    'a continue token with a path',
    `${configMaps}?continue=${btoa('{"v":"meta.k8s.io/v1","rv":1,"start":"../../secrets/x"}')}`,
    bad,
  ),
  get('a limit that is none', `${configMaps}?limit=__proto__`, bad),
  get('a revision that is none', `${configMaps}?resourceVersion=1e9`, { code: 400 }),
  get('a timeout that is none', `${configMaps}?timeout=1%0a2`, {
    ...bad,
    message: 'invalid timeout specified',
  }),
  get('bad percent-encoding', `${configMaps}/%zz`, { code: 400 }),
  get('a NUL in the path', `${configMaps}/a%00b`, {
    code: 404,
    message: 'configmaps "a\\x00b" not found',
  }),
  get('an encoded slash', `${configMaps}/..%2f..%2fsecrets`, { code: 404, reason: 'NotFound' }),
  get('a newline and colours in the path', `${configMaps}/a%0a%1b%5b31mb`, {
    code: 404,
    message: 'configmaps "a\\n\\x1b[31mb" not found',
  }),
  get('the name __proto__', `${configMaps}/__proto__`, {
    code: 404,
    message: 'configmaps "__proto__" not found',
  }),
  get('the group __proto__', '/apis/__proto__/v1/constructor', { code: 404 }),
  get('the resource constructor', '/api/v1/namespaces/default/constructor', { code: 404 }),
  get('the subresource toString', `${configMaps}/a/toString`, { code: 404 }),
  // kube-apiserver looks at all of them and finds the last.
  get('an Accept of 50,000 clauses', configMaps, {
    code: 406,
    headers: { accept: `${counted(50_000, (i) => `a/b${i};q=0.${i % 10}`)},application/json` },
  }),
  get('a path of 500 KB', `/${'a/'.repeat(250_000)}`, { code: 404 }),
  get('1,000 headers', configMaps, {
    code: 200,
    headers: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`x-${i}`, 'y'])),
  }),
];

function counted(count: number, item: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => item(i)).join(',');
}
