package secret

import "encoding/binary"

// A Cell identifies the database cell of one sealed value. A value can be
// opened only with the cell it was sealed for.
type Cell struct {
	Org   string // organisation that owns the row; empty for data of the installation
	Table string
	Row   string // primary key within the organisation
	Field string
}

// associatedData encodes the cell as associated data. Every part is preceded by its
// length, so that the encoding is unambiguous.
func (c Cell) associatedData() []byte {
	var out []byte
	for _, part := range [...]string{"vigil/cell/1", c.Org, c.Table, c.Row, c.Field} {
		out = binary.AppendUvarint(out, uint64(len(part)))
		out = append(out, part...)
	}
	return out
}
