// Answers one question: what does an answer say in sentences: its caveats, and what was not read?

/** The sentences of an answer, each once, in its order. */
export type Spoken = { readonly caveats: readonly string[]; readonly not_read: readonly string[] };

type Sentences = { readonly caveats: Set<string>; readonly reasons: Set<string> };

/** Takes out of the text of an answer its caveats, its reasons, and the flags that are not set. */
export function spokenIn(answer: string): Spoken {
  const quoted: unknown = JSON.parse(answer);
  const sentences: Sentences = { caveats: new Set(), reasons: new Set() };
  gather(quoted, '', sentences);
  return { caveats: [...sentences.caveats], not_read: [...sentences.reasons] };
}

function gather(value: unknown, key: string, sentences: Sentences): void {
  if (typeof value === 'string') {
    if (key === 'caveat') sentences.caveats.add(value);
    if (key === 'reason' || key.endsWith('_reason')) sentences.reasons.add(value);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, held] of Object.entries(value)) {
    // Of many addresses each has its flags, by the name of the table.
    if (key === 'checked' && held === false) {
      sentences.reasons.add(`Not checked for each address: ${name}.`);
    }
    gather(held, name, sentences);
  }
}
