-- What a change is due to, and which changes the same cause brought at about the
-- same time. Changes from before are groups of one.
ALTER TABLE desktop_change ADD COLUMN cause_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE desktop_change ADD COLUMN cause_id TEXT NOT NULL DEFAULT '';
ALTER TABLE desktop_change ADD COLUMN cause_name TEXT NOT NULL DEFAULT '';
ALTER TABLE desktop_change ADD COLUMN group_id TEXT NOT NULL DEFAULT '';
UPDATE desktop_change SET cause_kind = kind, cause_id = component, cause_name = name, group_id = id;
CREATE INDEX desktop_change_group ON desktop_change (group_id);
