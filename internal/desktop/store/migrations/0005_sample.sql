-- What was measured, in steps of some seconds. A row has the points of a series
-- for an hour, or for a day when the step is an hour. An empty component stands
-- for all of the kind.
CREATE TABLE desktop_sample (
	step       BIGINT NOT NULL,
	kind       TEXT   NOT NULL,
	measure    TEXT   NOT NULL,
	component  TEXT   NOT NULL,
	part       TEXT   NOT NULL,
	started_at BIGINT NOT NULL,
	points     TEXT   NOT NULL,
	PRIMARY KEY (step, kind, measure, component, part, started_at)
);

CREATE INDEX desktop_sample_start ON desktop_sample (step, started_at);
