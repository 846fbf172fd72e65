// Answers one question: how does an operator let a member in who has no code?

import { type Command, EXIT, readArgs, requireOption } from '../../command/command.ts';
import { printJson } from '../../command/output.ts';
import type { MembershipStore } from '../../ports/access/membership-store.ts';

/** The services of the link command. `base` is where browsers find the service. */
export type LinkServices = {
  readonly memberships: Pick<MembershipStore, 'find'>;
  readonly mintLink: (membershipId: string) => string;
  readonly base: string;
};

const link: Command<LinkServices> = {
  name: 'members link',
  summary: 'Print a link that signs one browser in for a membership, once.',
  usage: 'exhibit members link ID [--json]',
  example: 'exhibit members link mem_5b1c0e7d9a42f60b8c3d1e2f',
  details: ['Whoever has the link is signed in. It opens once, within 24 hours.'],
  run: async (argv, io, { memberships, mintLink, base }) => {
    const { positionals } = readArgs(argv, { options: {}, positionals: ['ID'] });
    const id = requireOption(positionals[0], 'ID');
    const held = await memberships.find(id);
    if (!held.checked || held.value === null) {
      io.err(held.checked ? 'There is no such membership.' : held.why.reason);
      return EXIT.failed;
    }
    const url = `${base}/activate?link=${mintLink(id)}`;
    if (io.json) printJson(io, { membership_id: id, url });
    else io.out(url);
    return EXIT.done;
  },
};

/** The link command. */
export const linkCommands: readonly Command<LinkServices>[] = [link];
