-- Accounts whose entities are being removed in pieces. Their rows are no entities any
-- more: at says when they went, generation what the change log has them under.
CREATE TABLE entity_removal (
    account_no BIGINT NOT NULL PRIMARY KEY,
    org        TEXT   NOT NULL,
    account    TEXT   NOT NULL,
    at         BIGINT NOT NULL,
    generation BIGINT NOT NULL
);

CREATE INDEX entity_removal_org ON entity_removal (org);
