import { definitions, type Hostile, widgetDefinition } from './cases.ts';

const text = { type: 'string' };

/** The definition of the other cases with one more field, as a dry run: what is legal is not stored either. */
function withField(name: string, field: object, rest: Omit<Hostile, 'name'>): Hostile {
  const [version] = widgetDefinition.spec.versions;
  const { spec: _, ...own } = { ...version, additionalPrinterColumns: [] } as Record<string, unknown>;
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { field } } } },
  };
  const spec = { ...widgetDefinition.spec, versions: [{ ...own, schema }] };
  return {
    name,
    method: 'POST',
    path: `${definitions}?dryRun=All`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...widgetDefinition, spec }),
    ...rest,
  };
}

const rule = (expression: string, rest: object = text) => ({
  ...rest,
  'x-kubernetes-validations': [{ rule: expression }],
});
const refused = { code: 422, reason: 'Invalid' } as const;
const pattern = (expression: string) => ({ ...text, pattern: expression });
const compilation = (problem: string) => ({
  ...refused,
  message: `compilation failed: ERROR: <input>:-1:0: ${problem}`,
});

/** Definitions whose patterns and rules are made to be expensive to look at. */
export const schemas: readonly Hostile[] = [
  withField('a pattern that backtracks elsewhere', pattern('^(a+)+$'), { code: 201 }),
  withField('repetitions of repetitions', pattern('((a{1000}){1000}){1000}'), {
    ...refused,
    message: 'must be a valid regular expression',
  }),
  withField('a pattern of 50,000 groups', pattern('('.repeat(50_000)), {
    ...refused,
    message: 'must be a valid regular expression',
  }),
  withField(
    'a rule in 99,000 parentheses',
    rule('('.repeat(99_000)),
    compilation('expression recursion limit exceeded: 250'),
  ),
  withField(
    'a rule of 100,000 characters',
    rule(`self == '${'a'.repeat(100_000)}'`),
    compilation('expression code point size exceeds limit: size: 100010, limit 100000'),
  ),
  withField(
    'a rule with a sum of 40,000 terms',
    rule(`1${'+1'.repeat(40_000)} == 1`),
    compilation('max recursion depth exceeded'),
  ),
  withField(
    'a rule with loops in loops',
    rule(`self.all(a, self.all(b, self.all(c, a == b && b.contains(c))))`, { type: 'array', items: text }),
    {
      ...refused,
      message: 'estimated rule cost exceeds budget by factor of more than 100x',
    },
  ),
  withField('9,000 names that nobody declared', rule(Array(9000).fill('who').join('&&')), {
    ...refused,
    message: "undeclared reference to 'who'",
  }),
  withField('a rule that copies itself', rule(`self.?a${'.optMap(x, x)'.repeat(100)}`), refused),
];
