-- What people say about controls that no rule checks.
CREATE TABLE control_assessment (
    org       TEXT NOT NULL,
    framework TEXT NOT NULL,
    control   TEXT NOT NULL,
    record    TEXT NOT NULL,
    PRIMARY KEY (org, framework, control)
);
