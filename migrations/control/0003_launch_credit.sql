-- By what the launcher of a mint was read: the launchpad's instruction that made it, or the
-- transaction that made the mint of a pool. Null of what an import told, and of what version 0.2.0
-- credited to whoever made the pool: that is read again.
alter table collected_launches
  add column credited_by text check (credited_by in ('creation', 'first_transaction'));
update collected_launches set credited_by = 'creation'
  where split_part(made_by, '.', 1) in ('pump', 'raydium_launchlab', 'meteora_dbc');
create index collected_launches_uncredited on collected_launches (mint)
  where credited_by is null and made_by <> 'import';
