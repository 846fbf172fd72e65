-- Which wallets are due to be scored: those with a launch of the last month of which something was
-- checked since, and those whose flag stands on a launch that is credited to somebody else now.
create index launches_launched on launches (launched_at);
create index launches_checked on launches (deployer, last_checked_at);
create index launch_scores_flagged on launch_scores (chain, token) where outcome = 'flagged';
