// What does each failure of the silence test mean, and what is to be done about it?
// One table: the test prints these words, and the document for contributors quotes them.

/** The rules by their names: what one that is broken means, and what to do. */
export const LEAK_RULES = {
  threw: {
    means: 'The handler threw, or made an answer that its contract does not declare.',
    next: 'Let silence pass through as an unread reading; say in the contract what is answered.',
  },
  'a negative on a silent port': {
    means: 'A field denied something although a port that it rests on did not speak to its end.',
    next: 'Make the claim from the reading itself; say null or the free form where it is unread.',
  },
  'a flag of what was not read to its end': {
    means: 'A `checked` was true on a reading that was silent, cut short or stale.',
    next: 'Make the flag from the reading that it is about: `claim(reading, isWhole, isNot)`.',
  },
  'an undeclared empty value': {
    means: 'A false, 0, empty text or empty list stood where no claim is declared.',
    next: 'Declare the field with negative(), or rowFact(), harmless() or emptyUnless() and why.',
  },
  'an answer of which nothing was read': {
    means: 'Every port was silent, and the route still answered as if it had looked.',
    next: 'Answer route.absent.not_deployed with the silent reading.',
  },
  'a fault that does not show': {
    means:
      'An answer of a port was spoiled, and the answer is the same but for its sources and date.',
    next: 'Use the reading that was asked for, or do not ask; name what was not read.',
  },
  'turned negative': {
    means: 'Less was read than in the whole world, and something is denied that was not before.',
    next: 'A part may convict and never acquits: use decide(), or say null.',
  },
  'vanished without a word': {
    means: 'Something that the whole answer shows is gone, and nothing in the answer says why.',
    next: 'Keep what was read, or name what was not: a reason, a flag, a chain not examined.',
  },
  'a planted fact denied': {
    means: 'The world holds a fact, and the answer says that there is none.',
    next: 'Look for the page, the call or the address that was left out, or for a constant.',
  },
  'a denial in words': {
    means: 'A sentence denied something although a port that it rests on did not speak to its end.',
    next: 'Choose the sentence from the reading, and say what was not checked where it is unread.',
  },
  'a denial in words that nobody declared': {
    means: 'A sentence of the product holds a word that denies (no, none, never, nothing, nobody).',
    next: 'Add it to SAYINGS in src/testing/silence-words.ts with the ports that it rests on.',
  },
  'a refusal that a silence made': {
    means: 'The input was refused because a port was silent: the caller is blamed for our fault.',
    next: 'Refuse by the input alone; a silent port makes an absence with a reason.',
  },
} as const satisfies { readonly [rule: string]: { readonly means: string; readonly next: string } };

/** The name of a rule. */
export type LeakRule = keyof typeof LEAK_RULES;

/** One thing that was said and must not be: by which rule, where, and what. */
export type Leak = { readonly rule: LeakRule; readonly cell: string; readonly said: string };

/** How many places of one rule are printed. */
const SHOWN_MAX = 8;

/** The leaks in plain words: each rule once, with the places where it was broken. */
export function leaksText(leaks: readonly Leak[]): string[] {
  const rules = [...new Set(leaks.map(({ rule }) => rule))];
  return rules.map((rule) => {
    const own = leaks.filter((one) => one.rule === rule);
    const { means, next } = LEAK_RULES[rule];
    const places = own.slice(0, SHOWN_MAX).map(({ cell, said }) => `  at ${cell}: ${said}`);
    const rest = own.length > SHOWN_MAX ? [`  and ${own.length - SHOWN_MAX} more`] : [];
    return [`${rule}: ${means} What to do: ${next}`, ...places, ...rest].join('\n');
  });
}
