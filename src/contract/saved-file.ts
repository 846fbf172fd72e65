// Takes a saved file apart. Whoever made it is not trusted: a field of another kind than expected
// is named, and nothing is filled in.

/** The file is none that could be checked; the message names the field. */
export class WrongFile extends Error {
  override readonly name = 'WrongFile';
}

/** The JSON in bytes that are UTF-8. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw new WrongFile('expected JSON in UTF-8');
  }
}

/** A field of an object's own; `undefined` where there is none. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const field: unknown = Reflect.get(value, name);
  return field;
}

export function objectOf(value: unknown, name: string): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new WrongFile(`${name}: expected an object`);
}

export function textField(value: object, name: string): string {
  const field = fieldOf(value, name);
  if (typeof field === 'string') return field;
  throw new WrongFile(`${name}: expected text`);
}

export function optionalTextField(value: object, name: string): string | null {
  const field = fieldOf(value, name);
  if (field === undefined || field === null) return null;
  return textField(value, name);
}

export function numberField(value: object, name: string): number {
  const field = fieldOf(value, name);
  if (typeof field === 'number') return field;
  throw new WrongFile(`${name}: expected a number`);
}

export function listField(value: object, name: string): readonly unknown[] {
  const field = fieldOf(value, name);
  if (Array.isArray(field)) return field;
  throw new WrongFile(`${name}: expected a list`);
}

export function textListField(value: object, name: string): readonly string[] {
  return listField(value, name).map((one) => {
    if (typeof one === 'string') return one;
    throw new WrongFile(`${name}: expected a list of texts`);
  });
}
