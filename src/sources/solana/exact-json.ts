// Answers one question: what does JSON say whose integers are wider than a number holds?
// Lamports are JSON numbers of up to 20 digits. An integer of 16 digits or more becomes text, digit
// for digit; everything else is as `JSON.parse` gives it.

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;
const WIDE_INTEGER = /^-?[0-9]{16,}$/;

/** Parses JSON without rounding an integer. Throws SyntaxError. */
export function exactJson(text: string): unknown {
  const exact = text.replace(TEXT_OR_NUMBER, (one) => (WIDE_INTEGER.test(one) ? `"${one}"` : one));
  const value: unknown = JSON.parse(exact);
  return value;
}
