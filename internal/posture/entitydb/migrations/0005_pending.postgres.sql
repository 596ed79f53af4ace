-- A short list of entries that wait: 64 kB take a tenth of a millisecond to look
-- through, and with it writing an entity takes a fifth of the time.
ALTER INDEX entity_token SET (fastupdate = on, gin_pending_list_limit = 64);
