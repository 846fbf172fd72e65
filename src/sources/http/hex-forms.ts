// Answers one question: in which hex forms does JSON-RPC of an EVM chain write its values.
// A form that is not its own is refused: nothing is padded, cut or filled in.

import { z } from 'zod';

/** 20 bytes, in lower case. */
export const ADDRESS = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text.toLowerCase());

/** 32 bytes, in lower case: a hash or a topic. */
export const WORD = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text) => text.toLowerCase());

/** A whole number that a double holds exactly. */
export const COUNT = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,13}$/)
  .transform((text) => Number(text));

/** A whole number of up to 32 bytes. */
export const AMOUNT = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform((text) => BigInt(text));

/** Whole bytes, as they came: blooms and data are long, and few who read them need one case. */
export const BYTES = z.string().regex(/^0x([0-9a-fA-F]{2})*$/);
