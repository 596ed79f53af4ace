-- What a token is limited to, separated by commas; nothing stands for no limit.
ALTER TABLE auth_token ADD COLUMN scopes TEXT NOT NULL DEFAULT '';
ALTER TABLE auth_token ADD COLUMN addresses TEXT NOT NULL DEFAULT '';
