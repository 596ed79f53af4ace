-- To find the newest change of every component and part, which is kept.
CREATE INDEX desktop_change_part ON desktop_change (kind, component, part, id);
