import {
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateGenerateName,
  validateLabelValue,
  validateQualifiedName,
} from '../../names.ts';
import { quoteGo } from '../../quote.ts';
import { hasFormat } from '../../validation/formats.ts';
import type { Run } from './run.ts';
import { none, noOverload, Opaque, Optional } from './values.ts';

type Check = (text: string) => string[];

class NamedFormat extends Opaque {
  readonly type = 'kubernetes.NamedFormat';
  readonly key: string;
  readonly check: Check;

  constructor(name: string, check: Check) {
    super();
    this.key = name;
    this.check = check;
  }
}

const prefix =
  (check: Check): Check =>
  (text) =>
    validateGenerateName(text, check);
const known =
  (format: string, otherwise: string): Check =>
  (text) =>
    hasFormat(text, format) ? [] : [otherwise];

const named: ReadonlyMap<string, NamedFormat> = new Map(
  Object.entries({
    dns1123Label: validateDns1123Label,
    dns1123Subdomain: validateDns1123Subdomain,
    dns1035Label: validateDns1035Label,
    qualifiedName: validateQualifiedName,
    dns1123LabelPrefix: prefix(validateDns1123Label),
    dns1123SubdomainPrefix: prefix(validateDns1123Subdomain),
    dns1035LabelPrefix: prefix(validateDns1035Label),
    labelValue: validateLabelValue,
    uri: (text: string) => {
      const why = text === '' ? 'empty url' : 'invalid URI for request';
      return hasFormat(text, 'uri') ? [] : [`parse ${quoteGo(text)}: ${why}`];
    },
    uuid: known('uuid', 'does not match the UUID format'),
    byte: known('byte', 'invalid base64'),
    date: known('date', 'invalid date'),
    datetime: known('datetime', 'invalid datetime'),
  }).map(([name, check]) => [name, new NamedFormat(name, check)]),
);

/**
 * `format.dns1123Label().validate(text)`: what is wrong, or none.
 * https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-format-library
 */
export const formats: Readonly<Record<string, Run>> = {
  ...Object.fromEntries([...named].map(([name, format]): [string, Run] => [`format.${name}`, () => format])),
  'format.named': (_, name) => {
    const format = named.get(String(name));
    return format ? new Optional(format) : none;
  },
  validate: (budget, format, text) => {
    if (!(format instanceof NamedFormat) || typeof text !== 'string') throw noOverload();
    budget.charge(text.length);
    const problems = format.check(text);
    return problems.length > 0 ? new Optional(problems) : none;
  },
};
