import { type Judgement, judge } from '../../kube/cel/compile.ts';
import type { Declarations } from '../../kube/cel/typed/environment.ts';
import type { KindType } from '../../kube/cel/typed/kind-type.ts';
import { checkDeclarations, variableType } from '../../kube/cel/typed/messages.ts';
import { type CelType, dyn } from '../../kube/cel/typed/types.ts';
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

/** Of what one policy makes, in characters; what is beyond is left unchecked, and unsaid. */
const mostRead = 2_000_000;
const mostSaid = 500_000;

/**
 * What is wrong with a policy's validations when each kind is what its schema says; nothing of it changes what the policy
 * does. `pause` is waited for between any two expressions.
 */
export async function warningsOf(
  spec: unknown,
  { kinds, params }: Checked,
  pause: () => Promise<void>,
): Promise<Warning[]> {
  const warnings: Warning[] = [];
  let [read, said] = [0, 0];
  const variables = records(listAt(spec, 'variables'));
  const characters = variables.reduce((sum, one) => sum + text(one['expression']).length, 0);
  const scopes: { name: string; declarations: Declarations }[] = [];
  for (const { name, type } of kinds) {
    read += characters;
    if (read > mostRead) return warnings;
    scopes.push({ name, declarations: await declare(variables, { object: type, params }, pause) });
  }
  for (const [fieldRef, expression] of expressionsOf(spec)) {
    const problems: string[] = [];
    for (const { name, declarations } of scopes) {
      read += expression.length;
      if (read > mostRead) return warnings;
      const { problem } = judgeOnce(expression, declarations);
      if (problem !== undefined) problems.push(`${name}: ${problem}\n`);
      said += problem?.length ?? 0;
      if (said > mostSaid) return warnings;
      await pause();
    }
    const warning = problems.join('\n');
    if (problems.length > 0) warnings.push({ fieldRef, warning });
  }
  return warnings;
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
  pause: () => Promise<void>,
): Promise<Declarations> {
  const variables = new Map<string, CelType>();
  const declarations = checkDeclarations({ ...of, variables });
  for (const one of given) {
    const { checked } = judgeOnce(text(one['expression']), declarations);
    variables.set(text(one['name']), checked ? variableType(checked.type) : dyn);
    await pause();
  }
  return declarations;
}

/** Judgements are remembered as long as declarations are, and are larger than what they are of. */
function judgeOnce(expression: string, declarations: Declarations): Judgement {
  return judge(expression, { ...declarations });
}
