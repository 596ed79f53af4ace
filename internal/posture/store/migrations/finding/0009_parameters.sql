-- The values of a rule's parameters with which a finding was judged, as JSON; NULL for a
-- rule without parameters.

ALTER TABLE finding ADD COLUMN parameters TEXT;
