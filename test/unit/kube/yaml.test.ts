import { describe, expect, it } from 'vitest';
import { decodeYaml, encodeYaml, YamlError } from '../../../kube/yaml.ts';

describe('decodeYaml', () => {
  it.each([
    ['yes', true],
    ['on', true],
    ['y', true],
    ['Off', false],
    ['NO', false],
    ['yEs', 'yEs'],
    ['~', null],
    ['', null],
    ['014', 12],
    ['0o14', 12],
    ['08', 8],
    ['0x1F', 31],
    ['0b11', 3],
    ['-0b11', -3],
    ['1_000', 1000],
    ['+12', 12],
    ['1e3', 1000],
    ['.5', 0.5],
    ['1.', 1],
    ['12:30:45', '12:30:45'],
    ['2026-01-01', '2026-01-01'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['1.2.3', '1.2.3'],
    ['9007199254740993', 9007199254740993n],
    ['123456789012345678901234567890', 1.2345678901234568e29],
    ['-9223372036854775808', -9223372036854775808n],
    [`1${'0'.repeat(320)}`, `1${'0'.repeat(320)}`],
    ['0x', '0x'],
    ['"yes"', 'yes'],
    ['!!str 123', '123'],
    ['!!binary aGk=', 'hi'],
  ])('%s', (text, value) => expect(decodeYaml(`a: ${text}\n`).value).toEqual({ a: value }));

  it('writes keys that are no strings as strings', () => {
    expect(decodeYaml('on: 1\n2: 3\n014: 4').value).toEqual({ true: 1, 2: 3, 12: 4 });
  });

  it('reads the first document only, and JSON', () => {
    expect(decodeYaml('a: 1\n---\nb: 2\n').value).toEqual({ a: 1 });
    expect(decodeYaml('{"a": [1, {"b": null}]}').value).toEqual({ a: [1, { b: null }] });
    expect(decodeYaml('').value).toBeNull();
  });

  it('finds repeated keys; merged ones are none', () => {
    expect(decodeYaml('spec:\n  color: 1\n  color: 2\nitems:\n- {a: 1, a: 2}\n---\nb: 1\nb: 2')).toEqual({
      value: { spec: { color: 2 }, items: [{ a: 2 }] },
      duplicates: ['line 3: key "color" already set in map', 'line 5: key "a" already set in map'],
    });
    expect(decodeYaml('base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  x: 3\n')).toEqual({
      value: { base: { x: 1, true: 2 }, use: { x: 3, true: 2 } },
      duplicates: [],
    });
  });

  it('bounds alias bombs and cycles', () => {
    const levels = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 10; i++) {
      levels.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(',')}]`,
      );
    }
    expect(() => decodeYaml(levels.join('\n'))).toThrow('excessive aliasing');
    expect(() => decodeYaml('a: &a [*a]')).toThrow();
    const shared = decodeYaml('a: &a {x: 1}\nb: *a').value as { a: object; b: object };
    expect(shared.a).toEqual(shared.b);
    expect(shared.a).not.toBe(shared.b);
  });

  it('keeps __proto__ an ordinary key', () => {
    const { value } = decodeYaml('__proto__: {polluted: true}\n');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('refuses broken text', () => {
    expect(() => decodeYaml('a: [1')).toThrow(/^yaml: /);
    expect(() => decodeYaml('? [a]\n: 1')).toThrow(/^yaml: /);
  });
});

describe('encodeYaml', () => {
  it('sorts keys and quotes what would be read as something else', () => {
    const value = { b: 'yes', a: ['1', 1, null, 9007199254740993n], c: { d: '2026-01-01' } };
    const text = encodeYaml(value);
    expect(text.indexOf('a:')).toBeLessThan(text.indexOf('b:'));
    expect(text).toContain('9007199254740993');
    expect(decodeYaml(text).value).toEqual(value);
  });

  it.each<[unknown, string]>([
    [9007199254740993n, '9007199254740993'],
    [-9007199254740993n, '-9007199254740993'],
    [1, '1'],
    [1.5, '1.5'],
    ['9007199254740993', "'9007199254740993'"],
    ['1', "'1'"],
    ['0x1f', "'0x1f'"],
    ['0o14', "'0o14'"],
    ['1_000', "'1_000'"],
    ['12:30:45', '12:30:45'],
    ['1e3', "'1e3'"],
    ['-x', '-x'],
  ])('writes %s beside an integer beyond 2^53 as %s', (value, text) => {
    const written = encodeYaml({ big: 9007199254740993n, value });
    expect(written).toMatch(/^big: 9007199254740993$/m);
    expect(/^value: (.*)$/m.exec(written)?.[1]).toBe(text);
    expect(decodeYaml(written).value).toEqual({ big: 9007199254740993n, value });
  });
});

const wrong = 'found invalid Unicode character escape code';

/** The words of kube-apiserver 1.36.3. */
it.each([
  ['{"a":"\\uDC00"}', wrong],
  ['{"a":"\\uD83D\\uDE00"}', wrong],
  ['"\\uD800": b', wrong],
  ['b: c\na: "\\U00110000"', `line 2: ${wrong}`],
  ['b: c\na: "b\n\n   \\uDC00"', `line 4: ${wrong}`],
  ['a: "\\/"', 'found unknown escape character'],
  ['a: "\\q"', 'found unknown escape character'],
  ['b: c\na: "\\q"', 'line 2: found unknown escape character'],
  ['b: c\na: "\\uDC0G"', 'line 2: did not find expected hexdecimal number'],
])('an escape that is no character is refused: %j', (text, why) => {
  expect(() => decodeYaml(text)).toThrow(new YamlError(why));
});

it.each([
  ['a: "\\U0001F600\\u00e4"', '\u{1f600}\u00e4'],
  ['a: "it\\\'s \\\\\\\' \\" \\\'"', "it's \\' \" '"],
  ["a: '\\'", '\\'],
  ['a: "\\\\uDC00\\\\/"', '\\uDC00\\/'],
  ["a: '\\uDC00\\/'", '\\uDC00\\/'],
  ['a: |-\n  "\\uDC00"', '"\\uDC00"'],
  ['a: b # "\\uDC00"', 'b'],
  ['a: b\n---\na: "\\uDC00"', 'b'],
])('what only looks like such an escape is not one: %j', (text, a) => {
  expect(decodeYaml(text).value).toEqual({ a });
});
