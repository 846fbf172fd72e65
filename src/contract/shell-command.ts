// The one place that writes a command for somebody to paste. Whatever a word holds, a shell takes
// it for one word: a subject of a link never becomes a command.

const PLAIN = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/;
/** Characters that a terminal may act on, or that hide pasted text. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;
const QUOTE = "'";
const OCTAL = 8;
const OCTAL_DIGITS = 3;

/**
 * A word of a command. Of one that ends in a secret the command holds the name of a variable, which
 * is read where it is pasted.
 */
export type CommandWord = string | { readonly before: string; readonly variable: string };

/**
 * A command as a person may paste it into a shell: each word quoted, each line but the last
 * continued. A word with characters that a terminal acts on needs bash or zsh; any other shell
 * takes it for a word that is wrong, and for nothing else.
 */
export function shellCommand(...lines: readonly (readonly CommandWord[])[]): string {
  return lines.map((words) => words.map(quoteWord).join(' ')).join(' \\\n  ');
}

function quoteWord(word: CommandWord): string {
  if (typeof word !== 'string') {
    const { before, variable } = word;
    if (!VARIABLE.test(variable)) throw new Error('a variable of a command has another form');
    return `${quoteWord(before)}"$${variable}"`;
  }
  if (PLAIN.test(word)) return word;
  // Inside this form nothing stands as it is but letters and digits: a shell that does not know it
  // finds no quote in it.
  if (CONTROL.test(word)) return `$'${[...Buffer.from(word)].map(escapeByte).join('')}'`;
  return `${QUOTE}${word.replaceAll(QUOTE, String.raw`'\''`)}${QUOTE}`;
}

function escapeByte(byte: number): string {
  const text = String.fromCharCode(byte);
  if (/[A-Za-z0-9]/.test(text)) return text;
  return `\\${byte.toString(OCTAL).padStart(OCTAL_DIGITS, '0')}`;
}
