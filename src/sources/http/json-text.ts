// Answers one question: what does a text hold that should be JSON.

/** What JSON it is; `undefined`, which no JSON is, where it is none. */
export function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
