/** A set of field paths, what fieldsV1 writes. */
export class FieldSet {}
