import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readError, writeError } from '../../../../storage/pipe/errors.ts';
import { BadFrame, type Cursor, Frames } from '../../../../storage/pipe/frames.ts';
import { Out } from '../../../../storage/pipe/out.ts';
import { StoreError } from '../../../../storage/store.ts';

type Field =
  | { kind: 'string'; is: string }
  | { kind: 'number'; is: number }
  | { kind: 'value'; is: Uint8Array };

const field: fc.Arbitrary<Field> = fc.oneof(
  fc.record({
    kind: fc.constant('string' as const),
    is: fc.string({ unit: 'binary', maxLength: 300, size: 'max' }),
  }),
  fc.record({ kind: fc.constant('number' as const), is: fc.double() }),
  fc.record({ kind: fc.constant('value' as const), is: fc.uint8Array({ maxLength: 300, size: 'max' }) }),
);

function write(out: Out, fields: readonly Field[]): void {
  for (const { kind, is } of fields) {
    if (kind === 'string') out.string(is);
    else if (kind === 'number') out.f64(is);
    else out.value(is);
  }
}

function read(frame: Cursor, fields: readonly Field[]): unknown[] {
  return fields.map(({ kind }) => {
    if (kind === 'string') return frame.string();
    return kind === 'number' ? frame.f64() : new Uint8Array(frame.value());
  });
}

/** One frame with what `body` writes. */
function framed(body: (out: Out) => void): Buffer {
  const out = new Out();
  out.begin(1, 7);
  body(out);
  out.end();
  return Buffer.from(out.take());
}

function readOne<T>(bytes: Buffer, body: (frame: Cursor) => T): T | undefined {
  let result: T | undefined;
  new Frames().feed(bytes, (frame) => {
    frame.u8();
    frame.u32();
    result = body(frame);
    frame.done();
  });
  return result;
}

describe('frames of a pipe', () => {
  it('are read as they were written, however they are cut', () => {
    const plans = fc.array(fc.array(field, { maxLength: 6 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(plans, fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (plan, cuts) => {
        const out = new Out();
        for (const [i, fields] of plan.entries()) {
          out.begin(i, 1000 + i);
          write(out, fields);
          out.end();
        }
        const bytes = Buffer.from(out.take());
        const frames = new Frames();
        let seen = 0;
        for (let at = 0, n = 0; at < bytes.length; n++) {
          const size = cuts[n % cuts.length]!;
          frames.feed(Buffer.from(bytes.subarray(at, at + size)), (frame) => {
            expect([frame.u8(), frame.u32()]).toEqual([seen, 1000 + seen]);
            const fields = plan[seen++]!;
            expect(read(frame, fields)).toEqual(fields.map(({ is }) => is));
            frame.done();
          });
          at += size;
        }
        expect(seen).toBe(plan.length);
      }),
    );
  });

  it('of several megabytes come whole', () => {
    const value = new Uint8Array(5 << 20).map((_, i) => i % 253);
    const bytes = framed((out) => out.value(value));
    const frames = new Frames();
    let got: Buffer | undefined;
    for (let at = 0; at < bytes.length; at += 65536) {
      frames.feed(bytes.subarray(at, at + 65536), (frame) => {
        frame.u8();
        frame.u32();
        got = frame.value();
      });
    }
    expect(got && Buffer.compare(got, value)).toBe(0);
  });

  it('are not there when they were cancelled', () => {
    const out = new Out();
    out.begin(1, 1);
    out.end();
    const { length } = out;
    out.begin(2, 2);
    out.string('x'.repeat(100_000));
    out.cancel();
    expect(out.length).toBe(length);
  });

  it.each<[string, (bytes: Buffer) => void, (frame: Cursor) => unknown]>([
    ['end early', () => {}, (frame) => [frame.string(), frame.u8()]],
    ['end late', () => {}, () => {}],
    ['have a string beyond their end', (bytes) => bytes.writeUInt32BE(1000, 9), (frame) => frame.string()],
    [
      'have a wide string beyond their end',
      (bytes) => bytes.writeUInt32BE(0x8000_1000, 9),
      (f) => f.string(),
    ],
    ['are too short to be any', (bytes) => bytes.writeUInt32BE(4, 0), () => {}],
    ['are longer than any', (bytes) => bytes.writeUInt32BE(0xffff_ffff, 0), () => {}],
  ])('that %s are refused', (_, damage, body) => {
    const bytes = framed((out) => out.string('a key'));
    damage(bytes);
    expect(() => readOne(bytes, body)).toThrow(BadFrame);
  });
});

describe('errors', () => {
  const current = { key: '/a', value: new Uint8Array([1, 2]), revision: 7, created: 3 };
  it.each([
    new StoreError('missing', 'no “such” key', { key: '/a/b' }),
    new StoreError('conflict', 'another revision', { key: '/a', current }),
    new StoreError('too-large', ''),
    new Error('a bug'),
  ])('cross whole: %s', (error) => {
    const got = readOne(
      framed((out) => writeError(out, error)),
      readError,
    );
    expect(got).toBeInstanceOf(error.constructor);
    expect(got?.message).toBe(error.message);
    if (!(error instanceof StoreError) || !(got instanceof StoreError)) return;
    expect([got.code, got.key, got.current?.revision, got.current?.created]).toEqual([
      error.code,
      error.key,
      error.current?.revision,
      error.current?.created,
    ]);
    expect(got.current && [...got.current.value]).toEqual(error.current && [...error.current.value]);
  });
});
