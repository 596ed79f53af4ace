-- From which networks users have logged in. Logins from there are not kept out by
-- failures from elsewhere.
CREATE TABLE desktop_login_place (
	account TEXT   NOT NULL,
	network TEXT   NOT NULL,
	last_at BIGINT NOT NULL,
	PRIMARY KEY (account, network)
);
