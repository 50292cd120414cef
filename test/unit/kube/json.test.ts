import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { deepCopy, deepEqual, sameJson } from '../../../kube/deep.ts';
import {
  anyDepth,
  decodeJson,
  decodeJsonInTurns,
  decodeJsonText,
  encodeJson,
  literalAt,
} from '../../../kube/json.ts';
import { JsonParser } from '../../../kube/json-parser.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const errorOf = (text: string) => {
  try {
    decodeJsonText(text);
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
};

describe('decodeJson', () => {
  it.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a":1', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['\u{1f600}', "invalid character 'ð' looking for beginning of value"],
    ['\v{}', "invalid character '\\v' looking for beginning of value"],
    ['\0{}', "invalid character '\\x00' looking for beginning of value"],
    ['{}}', "invalid character '}' after top-level value"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['nul', 'unexpected end of JSON input'],
    ['9'.repeat(400), `json: cannot unmarshal number ${'9'.repeat(400)} into Go value of type float64`],
    ['nulx', "invalid character 'x' in literal null (expecting 'l')"],
    ['trux', "invalid character 'x' in literal true (expecting 'e')"],
    ['01', "invalid character '1' after top-level value"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1e+x', "invalid character 'x' in exponent of numeric literal"],
    ['"\\q"', "invalid character 'q' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
  ])('refuses %j as Go does', (text, message) => expect(errorOf(text)).toBe(message));

  it.each([
    ['{"color":1,"color":2}', ['color'], { color: 2 }],
    ['{"spec":{"color":1,"color":2}}', ['spec.color'], { spec: { color: 2 } }],
    [
      '{"spec":{"ports":[{},{"name":"a","x":"\\"","name":"b"}]}}',
      ['spec.ports[1].name'],
      { spec: { ports: [{}, { name: 'b', x: '"' }] } },
    ],
    ['{"a":":","b":"\\\\","a":1}', ['a'], { a: 1, b: '\\' }],
    ['{"a":{"b":1},"c":{"b":1}}', [], { a: { b: 1 }, c: { b: 1 } }],
  ])('finds repeated keys in %s', (text, duplicates, value) => {
    expect(decodeJson(bytes(text), { strict: true })).toEqual({ value, duplicates });
    expect(decodeJson(bytes(text))).toEqual({ value, duplicates: [] });
  });

  it.each([
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', 2 ** 63],
    ['9007199254740991', 9007199254740991],
    ['1.5e3', 1500],
    ['12345678901234567890123', 1.2345678901234568e22],
    ['"1234567890123456789"', '1234567890123456789'],
  ])('reads %s exactly', (text, value) => {
    expect(decodeJsonText(text).value).toBe(value);
    expect(decodeJsonText(encodeJson(value)).value).toBe(value);
  });

  it.each([
    '%',
    '[%]',
    '[0,%]',
    '[0, %]',
    '{"a":%}',
    '{"a": %}',
    '{"a":\n%}',
    ' %',
    '{"u":"4a1e2345","a":[-1,%]}',
  ])('sees a number that JSON.parse would spoil in %s', (text) => {
    for (const number of ['9007199254740993', '-9007199254740993', '1234567890123456789']) {
      const written = text.replace('%', number);
      expect(encodeJson(decodeJsonText(written).value)).toBe(written.replace(/\s/g, ''));
    }
    for (const number of ['1e400', '-1E400', '1.5e+400', '10.25e999']) {
      expect(errorOf(text.replace('%', number))).toContain(`cannot unmarshal number ${number}`);
    }
  });

  it('tells how numbers are written of which the value does not tell', () => {
    const text = '{"a":1,"b":{"c":[2,3.0,1e3]},"d":0.50,"e":true,"f":9007199254740993,"g":"1.0","h":0.5}';
    const { literals = new Map() } = decodeJsonText(text, { strict: true });
    expect([...literals]).toEqual([
      ['b.c[1]', '3.0'],
      ['b.c[2]', '1e3'],
      ['d', '0.50'],
    ]);
    expect(decodeJsonText('{"a":[1,"1e3",true,false]}', { strict: true }).literals).toBeUndefined();
    const crowd = decodeJsonText(`[${'1.0,'.repeat(5000)}1]`, { strict: true });
    expect(crowd.literals?.size).toBe(1000);
  });

  it('does not keep the path of each number or repeated key below a long key, which would be that key as often', () => {
    const long = 'k'.repeat(20_000);
    const read = (key: string) =>
      decodeJsonText(`{"${key}":{"a":1.0,"b":1,"b":2,"c":1,"c":2}}`, { strict: true });
    expect([read('k').literals, read('k').duplicates]).toEqual([new Map([['k.a', '1.0']]), ['k.b', 'k.c']]);
    expect([read(long).literals, read(long).duplicates]).toEqual([undefined, [`${long}.b`]]);
    const path = 'k'.repeat(2000);
    expect(literalAt(new Map([['k.a', '1.0']]), ['.k', '.a'])).toBe('1.0');
    expect(literalAt(new Map([[`${path}.a`, '1.0']]), [`.${path}`, '.a'])).toBeUndefined();
  });

  it('tells of a hundred repeated keys', () => {
    const pairs = Array.from({ length: 300 }, (_, i) => `"k${i}":1,"k${i}":2`);
    const { duplicates } = decodeJsonText(`{${pairs.join()}}`, { strict: true });
    expect([duplicates.length, duplicates[99]]).toEqual([100, 'k99']);
  });

  it.each(['0.5', '-0.25,1', '12345.678', '0.30000000000000004', '1.5}'])(
    'reads fractions like %s as quickly as what has none',
    (written) => {
      const careful = vi.spyOn(JsonParser.prototype, 'parse');
      const text = written.endsWith('}') ? `{"a":${written}` : `[${written}]`;
      const { value, literals } = decodeJsonText(text, { strict: true });
      expect([value, literals, careful.mock.calls]).toEqual([JSON.parse(text), undefined, []]);
      careful.mockRestore();
    },
  );

  it.each(['3.0', '0.50', '1.5e3', '1.5E3', '-0.0', '1e-7', '0.0000001', '1.00000000000000000001', '15e-1'])(
    'tells that %s is written like that',
    (written) => {
      const { literals } = decodeJsonText(`{"b":0.5,"a":${written},"c":0.5}`, { strict: true });
      expect(literals).toEqual(new Map([['a', written]]));
    },
  );

  it('reads digits in strings as they are', () => {
    const uid = { uid: '4a1e2345-0000-4000-8000-1234567890123456', at: '2026-11-22T15:16:07.123456Z', n: 3 };
    expect(decodeJsonText(JSON.stringify(uid)).value).toEqual(uid);
  });

  it('replaces what is no Unicode', () => {
    expect(decodeJson(new Uint8Array([0x22, 0xff, 0x22])).value).toBe('\ufffd');
    expect(decodeJsonText('"a\\ud800b"').value).toBe('a\ufffdb');
    expect(decodeJsonText('"\\ud83d\\ude00"').value).toBe('😀');
  });

  it('keeps __proto__ an ordinary key', () => {
    const text = '{"__proto__":{"polluted":9007199254740993},"a":1,"a":2}';
    const { value, duplicates } = decodeJsonText(text, { strict: true });
    expect(Object.keys(value as object)).toEqual(['__proto__', 'a']);
    expect(duplicates).toEqual(['a']);
    expect(encodeJson(deepCopy(value))).toBe('{"__proto__":{"polluted":9007199254740993},"a":2}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('takes 10,000 levels and no more, without recursion', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const { value } = decodeJsonText(nested(10_000), { strict: true });
    expect(encodeJson(value)).toBe(nested(10_000));
    expect(deepEqual(deepCopy(value), value)).toBe(true);
    expect(errorOf(nested(10_001))).toBe("invalid character '[' exceeded max depth");
    const objects = `${'{"a":'.repeat(10_001)}1${'}'.repeat(10_001)}`;
    expect(errorOf(objects)).toBe("invalid character '{' exceeded max depth");
    const deeper = decodeJsonText(nested(100_000), anyDepth).value;
    expect(encodeJson([deeper])).toBe(nested(100_001));
    expect(encodeJson(decodeJsonText(`[${nested(100_000)},12345678901234567890]`, anyDepth).value)).toContain(
      '[[[',
    );
  });

  it.each([1, 5, 6, 7])(
    'takes as many levels where it reads in turns: of the last ones %i outside',
    async (outside) => {
      const text = (levels: number) => {
        const inside = levels - outside;
        const nested = '['.repeat(inside) + ']'.repeat(inside);
        return `${'['.repeat(outside)}${nested},"${'a'.repeat(70_000)}"${']'.repeat(outside)}`;
      };
      const read = (levels: number) => decodeJsonInTurns(bytes(text(levels)), async () => {});
      expect(encodeJson(await read(10_000))).toBe(text(10_000));
      await expect(read(10_001)).rejects.toThrow("invalid character '[' exceeded max depth");
    },
  );

  it('agrees with JSON.parse whichever reader runs', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, strict) => {
        const plain = JSON.stringify(value);
        const careful = `{"big":9007199254740993,"value":${plain}}`;
        expect(decodeJsonText(plain, { strict }).duplicates).toEqual([]);
        const read = decodeJsonText(careful, { strict });
        expect(read.duplicates).toEqual([]);
        expect(JSON.stringify((read.value as { value: unknown }).value)).toBe(
          JSON.stringify(JSON.parse(plain)),
        );
        expect(encodeJson(read.value)).toBe(
          `{"big":9007199254740993,"value":${JSON.stringify(JSON.parse(plain))}}`,
        );
      }),
    );
  });

  it('refuses exactly what JSON.parse refuses', () => {
    const mutated = fc.tuple(fc.jsonValue(), fc.nat(), fc.constantFrom('"', '\\', '{', ']', ',', '0', 'e'));
    fc.assert(
      fc.property(mutated, ([value, at, c]) => {
        const text = JSON.stringify(value);
        const i = at % (text.length + 1);
        const broken = `[9007199254740993,${text.slice(0, i)}${c}${text.slice(i)}]`;
        let expected = true;
        try {
          JSON.parse(broken);
        } catch {
          expected = false;
        }
        expect(errorOf(broken) === undefined || broken.includes('e')).toBe(expected || broken.includes('e'));
      }),
    );
  });
});

describe('decodeJsonInTurns', () => {
  /** The value, and how many steps it took. */
  function inSteps(text: string, length: number): { value: unknown; steps: number } {
    const reading = new JsonParser(text, false).steps(length, (whole) => decodeJsonText(whole).value);
    for (let steps = 1; ; steps++) {
      const { done, value } = reading.next();
      if (done) return { value: value.value, steps };
    }
  }
  const resultOf = (read: () => unknown) => {
    try {
      return encodeJson(read());
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('reads and refuses what decodeJson does, with spaces anywhere, however short the steps', () => {
    const spoilt = fc.constantFrom('', '"', '\\', '{', '[', ']', '}', ',', ':', '0', ' ');
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 8 }),
        fc.nat(),
        spoilt,
        fc.integer({ min: 1, max: 40 }),
        (value, at, c, length) => {
          const text = JSON.stringify(value, null, at % 2);
          const i = at % (text.length + 1);
          const given = `${text.slice(0, i)}${c}${text.slice(i)}`;
          expect(resultOf(() => inSteps(given, length).value)).toBe(
            resultOf(() => decodeJsonText(given).value),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  const many = (item: string) =>
    `[${Array(Math.ceil((1 << 20) / (item.length + 1)))
      .fill(item)
      .join()}]`;
  it.each([
    ['objects', many('{"metadata":{"name":"a"},"spec":{"list":[1,2,3]}}')],
    ['empty objects', many('{}')],
    ['nested lists', many('[[[[]]]]')],
    ['numbers', many('12345678901234567890')],
    ['escapes', many('"\\u00e9\\ud83d\\ude00"')],
    ['levels', `{"a":${'['.repeat(9000)}${many('{"b":[]}')}${']'.repeat(9000)}}`],
    ['an object deep inside', `{"a":{"b":[{"c":{"d":[{"e":{"f":${many('[1]')}}}]}}]}}`],
  ])('lets others go first again and again while it reads a MiB of %s', async (_, text) => {
    let turns = 0;
    const value = await decodeJsonInTurns(bytes(text), async () => void turns++);
    expect(encodeJson(value)).toBe(encodeJson(decodeJsonText(text).value));
    expect(turns).toBeGreaterThanOrEqual(7);
  });

  it('reads a number of a million digits as fast as any text', () => {
    const text = `{"a":${'9'.repeat(3_000_000)}}`;
    const before = process.cpuUsage();
    expect(errorOf(text)).toContain('into Go value of type float64');
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});

describe('deepEqual and sameJson', () => {
  it.each([
    [{ a: 1, b: undefined }, { a: 1 }, true, true],
    [{ a: 1 }, { b: 1 }, false, false],
    [{ a: 1 }, { a: 1, b: 2 }, false, false],
    [{ a: undefined }, { b: undefined }, true, true],
    [[1, 2], [2, 1], false, false],
    [[], {}, false, false],
    [{ a: '1' }, { a: 1 }, false, false],
    [{ a: [{ b: 1 }] }, { a: [{ b: 2 }] }, false, false],
    [{ a: null }, {}, false, true],
    [{ a: { b: null } }, { a: {} }, false, true],
    [[null], [undefined], false, true],
    [null, undefined, false, true],
    [{ a: null }, { a: 0 }, false, false],
  ])('%j and %j', (a, b, equal, same) => {
    const shown = (v: unknown) => v;
    for (const [x, y] of [
      [shown(a), b],
      [b, a],
    ]) {
      expect(deepEqual(x, y)).toBe(equal);
      expect(sameJson(x, y)).toBe(same);
    }
  });

  it('look at each value once, however deep it is', () => {
    let looks = 0;
    const deep = (levels: number): object => {
      const inner = levels === 0 ? {} : deep(levels - 1);
      const get = () => {
        looks++;
        return inner;
      };
      return Object.defineProperty({}, 'a', { enumerable: true, get });
    };
    expect(sameJson(deep(40), deep(40))).toBe(true);
    expect(looks).toBeLessThan(400);
    expect(sameJson(deep(4000), deep(4000))).toBe(true);
  });
});
