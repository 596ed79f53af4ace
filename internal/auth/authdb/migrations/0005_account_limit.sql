-- The cloud accounts that a user or token is limited to: ids separated by commas,
-- name=value separated by line feeds. Nothing stands for no limit.
ALTER TABLE auth_user ADD COLUMN accounts TEXT NOT NULL DEFAULT '';
ALTER TABLE auth_user ADD COLUMN account_tags TEXT NOT NULL DEFAULT '';
ALTER TABLE auth_token ADD COLUMN accounts TEXT NOT NULL DEFAULT '';
ALTER TABLE auth_token ADD COLUMN account_tags TEXT NOT NULL DEFAULT '';
