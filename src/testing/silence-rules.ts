// The rules of the silence test. The test prints them, and CONTRIBUTING.md quotes them.

/** Each rule by its name, with its meaning and the remedy. */
export const LEAK_RULES = {
  threw: {
    means: 'The handler threw, or made an answer that its contract does not declare.',
    next: 'Let silence pass through as an unread reading; say in the contract what is answered.',
  },
  'a negative on a silent port': {
    means: 'A field denied something although a port that it rests on was not read completely.',
    next: 'Make the claim from the reading itself; answer null if the reading is unread.',
  },
  'a flag of what was not read to its end': {
    means: 'A `checked` was true although its reading was silent, truncated or stale.',
    next: 'Make the flag from the reading that it is about: `claim(reading, isWhole, isNot)`.',
  },
  'an undeclared empty value': {
    means: 'A field without a declared claim held false, 0, an empty text or an empty list.',
    next: 'Declare the field with negative(), or rowFact(), harmless() or emptyUnless() and why.',
  },
  'an answer of which nothing was read': {
    means: 'Every port was silent, and the route still answered as if it had read them.',
    next: 'Answer route.absent.not_deployed with the silent reading.',
  },
  'a fault that does not show': {
    means:
      'The test spoiled the result of a port, and the answer differs only in sources and date.',
    next: 'Use the reading, or do not request it; name what was not read.',
  },
  'turned negative': {
    means: 'With less data than in the complete world, the route denied something more.',
    next: 'A part may convict and never acquits: use decide(), or answer null.',
  },
  'vanished without a word': {
    means: 'A fact of the complete answer is gone, and the answer gives no reason.',
    next: 'Keep what was read, or name what was not: a reason, a flag, a chain not examined.',
  },
  'a planted fact denied': {
    means: 'The world holds a fact, and the answer denies it.',
    next: 'Look for a missed page, call or address, or for a constant.',
  },
  'a denial in words': {
    means: 'A sentence denied something although a port that it rests on was not read completely.',
    next: 'Choose the sentence from the reading, and name what was not checked if it is unread.',
  },
  'a denial in words that nobody declared': {
    means:
      'A sentence of the product contains a word that denies (no, none, never, nothing, nobody).',
    next: 'Add it to SAYINGS in src/testing/silence-words.ts with the ports that it rests on.',
  },
  'a refusal that a silence made': {
    means: 'The route refused the input because a port was silent: it blames the caller.',
    next: 'Refuse by the input alone; a silent port makes an absence with a reason.',
  },
} as const satisfies { readonly [rule: string]: { readonly means: string; readonly next: string } };

/** The name of a rule. */
export type LeakRule = keyof typeof LEAK_RULES;

/** One false statement: its rule, its cell and its text. */
export type Leak = { readonly rule: LeakRule; readonly cell: string; readonly said: string };

/** The most cells that are printed for one rule. */
const SHOWN_MAX = 8;

/** Prints the leaks: each rule once, with the cells that break it. */
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
