-- Resources of the types that a rule finds, but not what it is about.
ALTER TABLE rule_verdict ADD COLUMN not_applicable BIGINT NOT NULL DEFAULT 0;
