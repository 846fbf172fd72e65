// Answers one question: how is the table of settings written for people.
// docs/reference/configuration.md and .env.example are exactly what these two functions return.

import { GROUPS } from './settings.ts';

const INTRODUCTION = `# Configuration

<!-- Made from src/config/settings.ts by \`exhibit config --reference\`. -->

Settings are environment variables. A \`.env\` file in the working directory is read too; the
environment wins. They are read once, when a process starts. A name that begins with \`EXHIBIT_\`
and is not listed here, or a value that cannot be read, stops the start with one line for each
problem. An empty value counts as not set.

\`exhibit config\` prints what is in effect: no secret, and of each source its scheme and host only.
\`exhibit doctor\` says what each absent source answers.

Times are written \`30s\`, \`90m\`, \`2h\` or \`7d\`; a bare number is in the unit that the row
names. Addresses of sources are base URLs: the path that a provider documents is appended.
`;

const CLOSING = `## Names that are ignored

\`EXHIBIT_TEST_*\` belongs to the tests. \`EXHIBIT_SERVICE_*\` and \`EXHIBIT_PORT_<n>_*\` are what
Kubernetes injects for a service called \`exhibit\`. It also injects \`EXHIBIT_PORT\`, as a
\`tcp://\` address: set \`enableServiceLinks: false\` in the pod.
`;

/** The reference page, in Markdown. */
export function configurationPage(): string {
  const sections = Object.entries(GROUPS).map(([title, settings]) => {
    const rows = Object.entries(settings).map(
      ([name, { unset, meaning }]) => `| \`${name}\` | ${unset} | ${meaning} |`,
    );
    const table = ['| setting | without it | meaning |', '|---|---|---|', ...rows].join('\n');
    return `## ${title}\n\n${table}\n`;
  });
  return [INTRODUCTION, ...sections, CLOSING].join('\n');
}

const EXAMPLE_CHARS_MAX = 96;

/** The example file: every setting, commented out, with its meaning. */
export function exampleFile(): string {
  const head = [
    '# Copy to .env and set what you need. Nothing here is needed to try the simulated world.',
    '# The reference: docs/reference/configuration.md',
  ];
  const blocks = Object.entries(GROUPS).map(([title, settings]) => {
    const rows = Object.entries(settings).flatMap(([name, { initial, meaning }]) => [
      ...wrapped(meaning.replaceAll('`', '')),
      `#${name}=${initial === null ? '' : initial}`,
    ]);
    return [`# --- ${title} ---`, ...rows].join('\n');
  });
  return `${[head.join('\n'), ...blocks].join('\n\n')}\n`;
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > EXAMPLE_CHARS_MAX) {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
