// Scripts by which shells complete the program's words, made of what the commands declare.

import { type Command, defineCommand, EXIT, mandatory, wordIn } from './command.ts';
import { print } from './output.ts';

type Completed = Pick<Command<never>, 'name' | 'completes'>;

export type CompletionServices = { readonly commands: () => readonly Completed[] };

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export const completionCommand = defineCommand({
  name: 'completion',
  summary: 'Print the script by which a shell completes commands and options.',
  example: 'exhibit completion bash > ~/.local/share/bash-completion/completions/exhibit',
  arguments: { shell: mandatory('SHELL', `one of ${SHELLS.join(', ')}`, wordIn(SHELLS)) },
  json: null,
  notes: [
    'bash: source <(exhibit completion bash). fish: exhibit completion fish | source.',
    `zsh: exhibit completion zsh > "\${fpath[1]}/_exhibit", then start it anew.`,
  ],
  run: async ({ shell }, io, { commands }: CompletionServices) => {
    print(io, completionScript(shell, commands()));
    return EXIT.done;
  },
});

/** @internal The lines of the script of a shell. */
export function completionScript(shell: Shell, commands: readonly Completed[]): string[] {
  const rules = rulesOf(commands);
  return shell === 'fish' ? fishScript(rules) : posixScript(shell, rules);
}

/** The words that may follow in a line: behind some first words, and behind an option. */
type Rule = {
  /** The first words without `exhibit`, as patterns of `case`. */
  readonly keys: readonly string[];
  readonly words: readonly string[];
  /** The words behind an option by its name; with none, the shell completes a file. */
  readonly values: readonly (readonly [option: string, words: readonly string[]])[];
};

function rulesOf(commands: readonly Completed[]): Rule[] {
  const names = commands.map(({ name }) => name.split(' '));
  const groups = new Map<string, Set<string>>([['', new Set()]]);
  for (const words of names) {
    for (const [i, word] of words.entries()) {
      const group = words.slice(0, i).join(' ');
      const held = groups.get(group);
      groups.set(group, held === undefined ? new Set([word]) : held.add(word));
    }
  }
  return [
    ...[...groups].map(([group, words]) => {
      const flags = group === '' ? ['--help', '--version'] : [];
      return { keys: [group], words: [...words, ...flags], values: [] };
    }),
    ...commands.map(({ name, completes: { argument, options } }) => ({
      keys: [name, `${name} *`],
      words: [...argument, ...options.map((option) => option.name)],
      values: options.flatMap((one) => (one.hasValue ? [[one.name, one.words] as const] : [])),
    })),
  ];
}

/** A pattern of `case` to both shells: all but a star in quotes. */
function posixPattern(key: string): string {
  return key.endsWith(' *') ? `'${key.slice(0, -1)}'*` : `'${key}'`;
}

function posixScript(shell: 'bash' | 'zsh', rules: readonly Rule[]): string[] {
  const cases = rules.flatMap(({ keys, words, values }) => [
    `    ${keys.map(posixPattern).join('|')})`,
    '      case "$before" in',
    ...values.map(([option, of]) => `        ${option}) found='${of.join(' ')}' ;;`),
    `        *) found='${words.join(' ')}' ;;`,
    '      esac ;;',
  ]);
  const choose = ['  case "$key" in', ...cases, '  esac'];
  if (shell === 'bash') {
    return [
      '_exhibit() {',
      `  local key= found= before="\${COMP_WORDS[COMP_CWORD-1]}"`,
      `  key="\${COMP_WORDS[*]:1:COMP_CWORD-1}"`,
      ...choose,
      `  COMPREPLY=($(compgen -W "$found" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
      '}',
      'complete -o default -F _exhibit exhibit',
    ];
  }
  return [
    '#compdef exhibit',
    '_exhibit() {',
    `  local key= found= before="\${words[CURRENT-1]}"`,
    `  (( CURRENT > 2 )) && key="\${words[2,CURRENT-1]}"`,
    ...choose,
    `  if [[ -n "$found" ]]; then compadd -- \${=found}; else _files; fi`,
    '}',
    'if [[ "$funcstack[1]" = _exhibit ]]; then _exhibit "$@"; else compdef _exhibit exhibit; fi',
  ];
}

function fishScript(rules: readonly Rule[]): string[] {
  const cases = rules.flatMap(({ keys, words, values }) => [
    `    case ${keys.map((key) => `'${key}'`).join(' ')}`,
    '      switch "$line[-1]"',
    ...values.flatMap(([option, of]) => [
      `        case ${option}`,
      `          set found ${of.join(' ')}`,
    ]),
    "        case '*'",
    `          set found ${words.join(' ')}`,
    '      end',
  ]);
  return [
    'function __exhibit_words',
    '  set -l line (commandline -opc)',
    '  set -l found',
    "  set -l key ''",
    '  test (count $line) -gt 1; and set key "$line[2..-1]"',
    '  switch "$key"',
    ...cases,
    '  end',
    '  if test (count $found) -gt 0',
    '    string join \\n -- $found',
    '  else',
    '    __fish_complete_path (commandline -ct)',
    '  end',
    'end',
    "complete -c exhibit -f -a '(__exhibit_words)'",
  ];
}
