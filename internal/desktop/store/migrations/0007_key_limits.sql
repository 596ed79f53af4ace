-- Where a monitoring key was last used from, and the networks it is limited to,
-- separated by commas.
ALTER TABLE desktop_key ADD COLUMN last_address TEXT NOT NULL DEFAULT '';
ALTER TABLE desktop_key ADD COLUMN addresses TEXT NOT NULL DEFAULT '';
