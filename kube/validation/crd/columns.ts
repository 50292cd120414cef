import { records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { simplePath } from './subresources.ts';

const types = ['boolean', 'date', 'integer', 'number', 'string'];
const formats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

export function printerColumns(value: unknown, field: Field): void {
  for (const [index, column] of records(value).entries()) {
    const path = field.index(index);
    if (!text(column['name'])) path.child('name').required();
    const type = text(column['type']);
    const rule = `must be one of ${types.join(',')}`;
    if (!type) path.child('type').required(rule);
    else if (!types.includes(type)) path.child('type').invalid(type, rule);
    const format = text(column['format']);
    if (format && !formats.includes(format))
      path.child('format').invalid(format, `must be one of ${formats.join(',')}`);
    const jsonPath = text(column['jsonPath']);
    if (jsonPath) simplePath(jsonPath, path.child('JSONPath'));
    else path.child('JSONPath').required();
  }
}
