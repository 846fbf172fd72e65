/**
 * A parser of stored texts that parses one again only where another text stands under its key. It
 * keeps the values of the keys that were asked last, at most `keptMax` of them; a value must not be
 * changed. What `parse` throws is thrown, and nothing of it is kept.
 */
export function keepParses<T>(
  parse: (text: string) => T,
  keptMax: number,
): (key: string, text: string) => T {
  const kept = new Map<string, { readonly text: string; readonly value: T }>();
  return (key, text) => {
    const known = kept.get(key);
    const one = known?.text === text ? known : { text, value: parse(text) };
    kept.delete(key);
    const [oldest] = kept.keys();
    if (kept.size >= keptMax && oldest !== undefined) kept.delete(oldest);
    kept.set(key, one);
    return one.value;
  };
}
