// Which reasons are about what was flagged, and about who scored when?
// They are rows of the one table of reasons, which says what a row holds.

/** Reasons of the table of flags. */
export const FLAG_REASONS = {
  quiet_window: {
    sentence:
      'quiet_window: none of {scored} launches scored in {hours} hours ({chains}) is flagged{but}.',
    means: 'A scorer ran to its end over everything that became known in the window.',
    next: 'This clears nobody: what was not collected was not scored.',
  },
  never_scored: {
    sentence:
      'never_scored: no scorer has ever written to the table of flags of this deployment; ' +
      'nothing was checked.',
    means: 'The table exists and no run of a scorer has ended yet.',
    next: 'The operator publishes a model and runs `exhibit work`; `/health` says what is missing.',
  },
  scoring_partial: {
    sentence: 'scoring_partial: the last {hours} hours were scored only in part: {gaps}.',
    means: 'A launch that was not scored may be one that the model flags.',
    next: 'Try again later; the operator reads the log of the scorer. Flags that are shown stand.',
  },
} as const;
