import { type Judgement, judge } from '../../kube/cel/compile.ts';
import type { Declarations } from '../../kube/cel/typed/environment.ts';
import type { KindType } from '../../kube/cel/typed/kind-type.ts';
import { checkDeclarations, variableType } from '../../kube/cel/typed/messages.ts';
import { type CelType, dyn } from '../../kube/cel/typed/types.ts';
import type { Later } from '../../kube/later.ts';
import { listAt, records, text } from '../../kube/untyped.ts';

export interface Warning {
  fieldRef: string;
  warning: string;
}

/** What expressions are checked against. */
export interface Checked {
  kinds: readonly { name: string; type: KindType }[];
  /** See CheckScope. */
  params: KindType | null | undefined;
}

/** Of what one policy makes, in characters, and in bytes as they are written; what is beyond is left unchecked, and unsaid. */
const mostRead = 2_000_000;
const mostSaid = 500_000;
/** Of one expression: nobody has a turn while it is judged. */
const longest = 20_000;
/** What judging takes however short the expression is, in characters. */
const leastRead = 100;

/** Waited for between any two expressions. It may throw, which ends the check. */
export type Turn = () => Later<void>;

/**
 * What is wrong with a policy's validations when each kind is what its schema says; nothing of it changes what the policy
 * does.
 */
export async function* warningsOf(
  spec: unknown,
  { kinds, params }: Checked,
  turn: Turn,
): AsyncGenerator<Warning> {
  let [read, said] = [0, 0];
  const variables = records(listAt(spec, 'variables'));
  const characters = variables.reduce((sum, one) => sum + sizeOf(text(one['expression'])), 0);
  const scopes: { name: string; declarations: Declarations }[] = [];
  for (const { name, type } of kinds) {
    read += characters;
    if (read > mostRead) return;
    scopes.push({ name, declarations: await declare(variables, { object: type, params }, turn) });
  }
  for (const [fieldRef, expression] of expressionsOf(spec)) {
    const problems: string[] = [];
    for (const { name, declarations } of scopes) {
      read += sizeOf(expression);
      if (read > mostRead) return;
      const { problem } = judgeOnce(expression, declarations);
      if (problem !== undefined) problems.push(`${name}: ${problem}\n`);
      said += problem === undefined ? 0 : Buffer.byteLength(JSON.stringify(problem));
      if (said > mostSaid) return;
      await turn();
    }
    const warning = problems.join('\n');
    if (problems.length > 0) yield { fieldRef, warning };
  }
}

function sizeOf({ length }: string): number {
  return length > longest ? leastRead : Math.max(length, leastRead);
}

function* expressionsOf(spec: unknown): Generator<[fieldRef: string, expression: string]> {
  for (const [i, validation] of records(listAt(spec, 'validations')).entries())
    for (const name of ['expression', 'messageExpression']) {
      const expression = text(validation[name]);
      if (name === 'expression' || expression !== '') yield [`spec.validations[${i}].${name}`, expression];
    }
}

/** A variable sees those before it; one that is wrong itself may be anything. */
async function declare(
  given: readonly Readonly<Record<string, unknown>>[],
  of: { object: KindType; params: KindType | null | undefined },
  turn: Turn,
): Promise<Declarations> {
  const variables = new Map<string, CelType>();
  const declarations = checkDeclarations({ ...of, variables });
  for (const one of given) {
    const { checked } = judgeOnce(text(one['expression']), declarations);
    variables.set(text(one['name']), checked ? variableType(checked.type) : dyn);
    await turn();
  }
  return declarations;
}

/** Judgements are remembered as long as declarations are, and are larger than what they are of. */
function judgeOnce(expression: string, declarations: Declarations): Judgement {
  if (expression.length > longest) return { steps: 0 };
  return judge(expression, { ...declarations });
}
