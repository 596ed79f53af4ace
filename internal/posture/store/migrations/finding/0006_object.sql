-- What a finding is about, as clients name it: the type of the resource, and its
-- own name in the cloud beside its entity id and its long id. Findings from before
-- are completed when they are next evaluated.
ALTER TABLE finding ADD COLUMN type TEXT NOT NULL DEFAULT '';
ALTER TABLE finding ADD COLUMN local_id TEXT NOT NULL DEFAULT '';

CREATE INDEX finding_object ON finding (org, object);
CREATE INDEX finding_local ON finding (org, local_id);
CREATE INDEX finding_xid ON finding (org, xid);
CREATE INDEX finding_resolved ON finding (org, resolved) WHERE resolved <> 0;
