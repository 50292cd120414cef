import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, Script } from 'node:vm';
import ts from 'typescript';
import { expect, test } from 'vitest';

/** Of those that see long texts of nobody, the longest that they see. */
const bounded: Readonly<Record<string, number>> = {
  'cluster/placement.ts /-+$/': 64,
  'kube/cel/eval/quantity.ts /^(-?\\d*?)(0+)e(-?\\d+)$/': 1024,
  'kube/cel/eval/semver.ts /^v?([0-9.]*)(.*)$/': 256,
  'kube/cel/eval/times.ts /(\\d*)\\.?(\\d*)(ns|us|µs|μs|ms|s|m|h)/g': 100,
  'kube/cel/eval/times.ts /0+$/': 9,
};

const folders = 'kube storage cluster client apiserver controller scheduler splitter syncer server'.split(
  ' ',
);
const files = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);

function literalsIn(file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push(`${file} ${node.text}`);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

const many = 'a0/.- \n"\\%:*=,([{_A\té$<+;&#'.split('');
const pairs = ['a.', 'a/', 'a-', 'a,', 'a=', '0.', '\\"', '::', 'a:', ' ,', 'A1', '1a', '$(', '[0]', '%2'];
const around = [
  ['', '!'],
  ['', '\u0000'],
  ['a', 'b'],
  ['/', 'a'],
  ['a', '\n'],
  ['1', 'x'],
  ['', ''],
] as const;

/** One thing many times, with something before and after it. */
const shapes = [...many, ...pairs].flatMap((one) =>
  around.map(([before, after]) => ({ before, one, after })),
);

function textOf({ before, one, after }: (typeof shapes)[number], length: number): string {
  return before + one.repeat(length / one.length) + after;
}

const shortMs = 5;
const longMs = 20_000;
const short = shapes.map((shape) => ({ shape, text: textOf(shape, 10_000) }));

const context = createContext({});
const run = new Script('expression.lastIndex = 0; expression.test(text)');

/** Whether it has an answer by then. */
function answers(expression: RegExp, text: string, millis: number): boolean {
  Object.assign(context, { expression, text });
  try {
    run.runInContext(context, { timeout: millis });
    return true;
  } catch {
    return false;
  }
}

/** What is quadratic takes 10,000 characters for more than 5 ms on any machine, and a million for hours. */
function neverAnswers(literal: string): string | undefined {
  const [, source = '', flags = ''] = /\/(.*)\/([a-z]*)$/s.exec(literal.slice(literal.indexOf(' '))) ?? [];
  const expression = new RegExp(source, flags);
  const length = bounded[literal];
  const suspects =
    length === undefined
      ? short.filter(({ text }) => !answers(expression, text, shortMs)).map(({ shape }) => shape)
      : shapes;
  const found = suspects.find((shape) => !answers(expression, textOf(shape, length ?? 1_000_000), longMs));
  return found && JSON.stringify(found);
}

test('no regular expression takes much longer than a text is long', () => {
  const literals = [...new Set(files.flatMap(literalsIn))];
  expect(literals.length).toBeGreaterThan(200);
  for (const literal of literals) expect([literal, neverAnswers(literal)]).toEqual([literal, undefined]);
  expect(Object.keys(bounded).filter((literal) => !literals.includes(literal))).toEqual([]);
});
