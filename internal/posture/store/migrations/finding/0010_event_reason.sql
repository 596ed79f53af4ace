-- Why a finding was resolved other than because the violation is gone.
ALTER TABLE finding_event ADD COLUMN reason TEXT NOT NULL DEFAULT '';
