-- The identity at an identity provider of users who log in by single sign-on.
ALTER TABLE auth_user ADD COLUMN issuer TEXT NOT NULL DEFAULT '';
ALTER TABLE auth_user ADD COLUMN subject TEXT NOT NULL DEFAULT '';

CREATE UNIQUE INDEX auth_user_by_subject ON auth_user (issuer, subject, org_id) WHERE subject <> '';

-- Whether a token stands for a browser session by single sign-on.
ALTER TABLE auth_token ADD COLUMN sign_on BOOLEAN NOT NULL DEFAULT FALSE;
