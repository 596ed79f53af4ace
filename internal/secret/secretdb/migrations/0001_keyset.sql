-- The keyset that seals stored secrets, wrapped by the master key. One row.
CREATE TABLE secret_keyset (
	id         BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
	generation BIGINT NOT NULL,
	master     TEXT   NOT NULL,
	keyset     BLOB   NOT NULL,
	rotated_at BIGINT NOT NULL
);

-- How far the resealing of each column has come in a generation of the keyset.
CREATE TABLE secret_bookmark (
	column_name TEXT    NOT NULL PRIMARY KEY,
	generation  BIGINT  NOT NULL,
	place       TEXT    NOT NULL,
	done        BOOLEAN NOT NULL
);
