import { type Messages, messagesOf, type SchemaType, schemaType } from '../../cel/typed/schema-type.ts';
import type { JsonObject } from '../../object.ts';
import type { StatusCause } from '../../status.ts';
import { isRecord } from '../../untyped.ts';

/** What all rules of a schema cost together at most, and the four that cost most of it. */
export interface TotalCost {
  total: number;
  most: { path: string; cost: number }[];
}

export const costLimits = { rule: 10_000_000, schema: 100_000_000 } as const;

/** For one schema within a definition's: what its rules' expressions are judged by. */
export interface CelContext {
  /** Undefined where kube-apiserver finds no type for them; throws when that is so of a schema around it. */
  type(): SchemaType | undefined;
  /** Of the outermost type that its own is part of. */
  messages(): Messages;
  /** How often there can be values of it in one object; undefined when nothing limits it. */
  cardinality?: number;
  cost: TotalCost;
  /** Of expressions: those of the schema itself keep expressions from being looked at, these do not. */
  causes: StatusCause[];
  schema: JsonObject;
  /** Whether it or a schema around it has rules. */
  hasRules: boolean;
}

/** A schema around has no type that expressions could be given. */
export class Untyped extends Error {}

const rulesOf = (schema: JsonObject) => {
  const rules = schema['x-kubernetes-validations'];
  return Array.isArray(rules) && rules.length > 0;
};

/** A name that nobody should rely on. */
const rootName = () => `selfType${process.hrtime()[1]}`;

export function rootContext(schema: JsonObject): CelContext {
  const cost: TotalCost = { total: 0, most: [] };
  const context = { cardinality: 1, cost, causes: [], schema, hasRules: rulesOf(schema) };
  return { ...context, ...typed(() => ({ type: converted(schema, true) })) };
}

function converted(schema: JsonObject, isResource: boolean): SchemaType {
  const type = schemaType(schema, isResource, rootName());
  if (!type) throw new Untyped();
  return type;
}

/** The type, made once, and the messages of the one around that it is part of. */
function typed(make: () => { type: SchemaType; within?: CelContext }): Pick<CelContext, 'type' | 'messages'> {
  let made: { type: SchemaType; within?: CelContext } | { error: unknown } | undefined;
  let messages: Messages | undefined;
  const known = () => {
    if (!made) {
      try {
        made = make();
      } catch (error) {
        made = { error };
      }
    }
    if ('error' in made) throw made.error;
    return made;
  };
  return {
    type: () => known().type,
    messages: () => {
      const { type, within } = known();
      messages ??= within ? within.messages() : messagesOf(type);
      return messages;
    },
  };
}

/** The context of a schema below: `part` finds its type in the one of the schema around it. */
export function belowContext(
  parent: CelContext | undefined,
  schema: JsonObject,
  part: (parent: SchemaType) => SchemaType | undefined,
): CelContext | undefined {
  if (!parent) return undefined;
  const factor = most(parent.schema);
  const { cardinality } = parent;
  const own = cardinality === undefined || factor === undefined ? undefined : cardinality * factor;
  return {
    ...(own !== undefined && { cardinality: own }),
    cost: parent.cost,
    causes: parent.causes,
    schema,
    hasRules: parent.hasRules || rulesOf(schema),
    ...typed(() => {
      const around = parent.hasRules ? parent.type() : undefined;
      const type = around && part(around);
      if (type) return { type, within: parent };
      return { type: converted(schema, schema['x-kubernetes-embedded-resource'] === true) };
    }),
  };
}

/** How many values of what is below it a value can hold. */
function most(schema: JsonObject): number | undefined {
  const limit = (name: string) => {
    const value = schema[name];
    return typeof value === 'number' ? Math.max(value, 0) : undefined;
  };
  if (schema['type'] === 'array') return limit('maxItems');
  const more = schema['additionalProperties'];
  const isMap = schema['type'] === 'object' && (isRecord(more) || typeof more === 'boolean');
  return isMap ? limit('maxProperties') : 1;
}

/** Adds what an expression costs; those below a hundredth of the limit are not among the expensive ones. */
export function observeCost({ cost }: CelContext, path: string, expression: number): void {
  cost.total += expression;
  if (expression < costLimits.schema / 100) return;
  cost.most.push({ path, cost: expression });
  cost.most.sort((a, b) => b.cost - a.cost);
  cost.most.splice(4);
}

/** What is said of an expression that costs more than it may. */
export function tooExpensive(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  const hint =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${what} exceeds budget by factor of ${shown} (${hint})`;
}

/** What an ancestor says about a schema below it. */
export interface Above {
  /** Why no default may be set. */
  noDefaults?: string;
  /** Within metadata, kind or apiVersion of a resource. */
  insideMeta?: boolean;
  /** Where the schema is that keeps old and new values from being matched. */
  uncorrelated?: string;
  isRoot?: boolean;
}
