-- Users of the warehouse (ClickHouse), each with no more than its process needs. Run once, as an
-- administrator, in the database of the warehouse, then give each user a password:
--   ALTER USER exhibit_serve IDENTIFIED WITH sha256_password BY '…' HOST ANY
-- These statements were parsed by the engine and never run: docs/guides/operating.md says so.
CREATE ROLE IF NOT EXISTS exhibit_owns;
CREATE ROLE IF NOT EXISTS exhibit_works;
CREATE ROLE IF NOT EXISTS exhibit_serves;
-- The job that migrates.
GRANT SELECT, INSERT, ALTER, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, TRUNCATE
  ON exhibit.* TO exhibit_owns;
-- Imports and followers: rows come and go, no table does.
GRANT SELECT, INSERT, ALTER DELETE, OPTIMIZE ON exhibit.* TO exhibit_works;
-- Live readings are kept; nothing is changed or taken away.
GRANT SELECT, INSERT ON exhibit.* TO exhibit_serves;
CREATE USER IF NOT EXISTS exhibit_owner HOST NONE;
CREATE USER IF NOT EXISTS exhibit_work HOST NONE;
CREATE USER IF NOT EXISTS exhibit_serve HOST NONE;
GRANT exhibit_owns TO exhibit_owner;
GRANT exhibit_works TO exhibit_work;
GRANT exhibit_serves TO exhibit_serve;
